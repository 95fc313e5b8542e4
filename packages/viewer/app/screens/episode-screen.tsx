import { plural } from '@episodic/report'
import { BesideView } from '../episode/beside-view.tsx'
import type { EpisodeRoute } from '../episode/episode-header.tsx'
import { EpisodeView } from '../episode/episode-view.tsx'
import { loadEpisode } from '../episode/load-episode.ts'
import { TaskChoice } from '../group/task-choice.tsx'
import { Answer, EmptyNote } from '../parts/notes.tsx'
import { formatRoute } from '../route/route.ts'
import { useLoaded } from '../source/use-source.ts'

/** What happened in one episode, step by step. */
export function EpisodeScreen({ route }: { readonly route: EpisodeRoute }) {
  const { run, task, attempt, try: wanted, beside } = route
  const found = useLoaded(
    (source) => loadEpisode(source, { run, task, attempt, try: wanted }),
    [run, task, attempt, wanted],
  )
  return (
    <Answer of={found}>
      {(value) => {
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
    </Answer>
  )
}
