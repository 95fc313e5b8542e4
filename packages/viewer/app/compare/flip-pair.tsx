import { plural } from '@episodic/report/text/format'
import { BesideStep } from '../episode/beside-view.tsx'
import { type EpisodeModel, episodeModel } from '../episode/episode-model.ts'
import { loadEpisode } from '../episode/load-episode.ts'
import { FoldsContext, useFolds } from '../parts/folds.tsx'
import { ErrorNote, LoadingNote } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import { ResultBadge } from '../parts/result.tsx'
import { episodeHref } from '../route/route.ts'
import { useLoaded } from '../source/use-source.ts'

/** Steps that are shown of each play; the episode's own page has all. */
const MOST_STEPS = 60

interface FlipPairProps {
  readonly runs: readonly [string, string]
  readonly tasks: readonly [string, string]
  readonly attempt: number
}

export function FlipPair({ runs, tasks, attempt }: FlipPairProps) {
  const folds = useFolds()
  const loaded = useLoaded(
    async (source) => {
      const found = await Promise.all(
        [0, 1].map((i) => loadEpisode(source, { run: runs[i] ?? '', task: tasks[i] ?? '', attempt, try: null })),
      )
      return found.map((one) => (one.kind === 'episode' ? episodeModel(one.episode.record, null) : null))
    },
    [runs.join(), tasks.join(), attempt],
  )
  if (loaded.error) return <ErrorNote error={loaded.error} />
  if (!loaded.value) return <LoadingNote />
  const models = loaded.value
  const most = Math.max(...models.map((model) => model?.shown.steps.length ?? 0))
  return (
    <FoldsContext.Provider value={folds}>
      <div class="beside">
        <p class="muted">{plain(models.find((model) => model !== null)?.record.task.prompt ?? '')}</p>
        <div class="pair pair-head">
          {models.map((model, i) => (
            <PlayHead key={i} letter={i === 0 ? 'A' : 'B'} run={runs[i] ?? ''} model={model} />
          ))}
        </div>
        {Array.from({ length: Math.min(most + 1, MOST_STEPS) }, (_, index) => (
          <div key={index} class="pair">
            {models.map((model, i) => model && <BesideStep key={i} model={model} index={index} />)}
          </div>
        ))}
        {most > MOST_STEPS && <p class="muted">And {plural(most - MOST_STEPS, 'more step')}.</p>}
      </div>
    </FoldsContext.Provider>
  )
}

interface PlayHeadProps {
  readonly letter: string
  readonly run: string
  readonly model: EpisodeModel | null
}

function PlayHead({ letter, run, model }: PlayHeadProps) {
  if (!model) return <div>{letter}: this episode is not there.</div>
  const { task, attempt } = model.record
  return (
    <div>
      <h3>
        <a href={episodeHref(run, task.id, attempt)}>{letter}</a> · {plain(model.figures.player)}{' '}
        <ResultBadge result={model.result} ending={model.ending} />
      </h3>
    </div>
  )
}
