import { plural } from '@episodic/report/text/format'
import { useEffect, useRef, useState } from 'preact/hooks'
import { BesideView } from '../episode/beside-view.tsx'
import { EpisodeView } from '../episode/episode-view.tsx'
import { FollowedView } from '../episode/followed-view.tsx'
import { loadEpisode } from '../episode/load-episode.ts'
import { TaskChoice } from '../group/task-choice.tsx'
import { EmptyNote, WhenLoaded } from '../parts/notes.tsx'
import { type EpisodeRoute, formatRoute } from '../route/route.ts'
import { useLoaded } from '../source/use-source.ts'

/** Milliseconds between two looks at an episode that is being played. */
const FOLLOW_INTERVAL = 1_000

/** What happened in one episode, step by step. One that is being played is followed until it is sealed. */
export function EpisodeScreen({ route }: { readonly route: EpisodeRoute }) {
  const { run, task, attempt, try: wanted, beside } = route
  const [looks, setLooks] = useState(0)
  const found = useLoaded(
    (source) => loadEpisode(source, { run, task, attempt, try: wanted }),
    [run, task, attempt, wanted],
    looks,
  )
  const kind = found.value?.kind
  const isFollowed = useRef(false)
  // Between its end and its line there is neither.
  isFollowed.current = kind === 'playing' || (isFollowed.current && kind !== 'episode')
  const follows = isFollowed.current
  useEffect(() => {
    if (!follows) return
    const looking = setInterval(() => setLooks((before) => before + 1), FOLLOW_INTERVAL)
    return () => clearInterval(looking)
  }, [follows])
  return (
    <WhenLoaded of={found}>
      {(value) => {
        if (value.kind === 'playing') return <FollowedView episode={value.episode} />
        if (value.kind === 'tasks') return <TaskChoice route={route} tasks={value.tasks} />
        if (value.kind === 'attempts')
          return (
            <EmptyNote whole title={`The task has no attempt ${attempt}${wanted === null ? '' : `, try ${wanted}`}.`}>
              <p>
                It has{' '}
                <a href={formatRoute({ screen: 'group', run, task })}>{plural(value.attempts.length, 'other line')}</a>.
              </p>
            </EmptyNote>
          )
        const { episode } = value
        if (beside !== undefined) return <BesideView route={route} one={episode} beside={beside} />
        return <EpisodeView key={episode.words.row} route={route} episode={episode} />
      }}
    </WhenLoaded>
  )
}
