import { Pair } from '../episode/beside-view.tsx'
import { loadEpisode } from '../episode/load-episode.ts'
import { WhenLoaded } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import { useLoaded } from '../source/use-source.ts'

interface FlipPairProps {
  readonly runs: readonly [string, string]
  readonly tasks: readonly [string, string]
  readonly attempt: number
}

export function FlipPair({ runs, tasks, attempt }: FlipPairProps) {
  const loaded = useLoaded(
    async (source) => {
      const asked = runs.map((run, i) => loadEpisode(source, { run, task: tasks[i] ?? '', attempt, try: null }))
      return (await Promise.all(asked)).flatMap((found) => (found.kind === 'episode' ? [found.episode] : []))
    },
    [runs.join(), tasks.join(), attempt],
  )
  return (
    <WhenLoaded of={loaded}>
      {(episodes) => (
        <>
          <p class="muted">{plain(episodes[0]?.record.task.prompt ?? '')}</p>
          {episodes.length === 2 ? <Pair runs={runs} episodes={episodes} /> : <p>One of the episodes is not there.</p>}
        </>
      )}
    </WhenLoaded>
  )
}
