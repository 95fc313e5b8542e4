import { formatNumber } from '@episodic/report/text/format'
import { speechOf } from '@episodic/report/text/speech-of'
import { useMemo } from 'preact/hooks'
import { FoldsContext, useFolds } from '../parts/folds.tsx'
import { LongText } from '../parts/long-text.tsx'
import { WhenLoaded } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import { ResultBadge } from '../parts/result.tsx'
import { VirtualList } from '../parts/virtual/virtual-list.tsx'
import { type EpisodeRoute, episodeHref, formatRoute } from '../route/route.ts'
import { useLoaded } from '../source/use-source.ts'
import { Attachments } from './attachments.tsx'
import { type EpisodeModel, episodeModel, type LoadedEpisode, numberOf } from './episode-model.ts'
import { loadEpisode } from './load-episode.ts'
import { Call, ModelText, ThoughtText } from './message-view.tsx'
import { RewardValue } from './step-entry.tsx'

interface BesideViewProps {
  readonly route: EpisodeRoute
  readonly one: LoadedEpisode
  readonly beside: string
}

export function BesideView({ route, one, beside }: BesideViewProps) {
  const { task } = route
  const [play = '', run = route.run] = beside.split(':').toReversed()
  const [attempt = '', number] = play.split('.')
  const wanted = number === undefined ? null : Number(number)
  const other = useLoaded(
    (source) => loadEpisode(source, { run, task, attempt: Number(attempt), try: wanted }),
    [run, task, attempt, wanted],
  )
  return (
    <WhenLoaded of={other}>
      {(found) =>
        found.kind === 'episode' ? (
          <>
            <h1>{plain(one.record.task.prompt)}</h1>
            <p>
              <a href={formatRoute({ screen: 'group', run: route.run, task })}>all attempts</a>
            </p>
            <Pair runs={[route.run, run]} episodes={[one, found.episode]} isScrolled={route.step !== null} />
          </>
        ) : (
          <p>
            There is no attempt {play}.{' '}
            <a href={episodeHref(route.run, task, route.attempt)}>Attempt {route.attempt}</a>
          </p>
        )
      }
    </WhenLoaded>
  )
}

interface PairProps {
  readonly runs: readonly string[]
  readonly episodes: readonly LoadedEpisode[]
  /** Where the steps begin to be shown, if not above. */
  readonly isScrolled?: boolean
}

export function Pair({ runs, episodes, isScrolled = false }: PairProps) {
  const models = useMemo(() => episodes.map(({ record }) => episodeModel(record, null)), [episodes])
  const folds = useFolds()
  const count = Math.max(...models.map(({ shown }) => shown.steps.length))
  const parts = useMemo(() => partingStep(models), [models])
  return (
    <FoldsContext.Provider value={folds}>
      <section class="beside">
        <p class="muted">
          {parts === null ? 'They took the same actions.' : `They part at step ${numberOf(models[0], parts)}.`}
        </p>
        <div class="pair pair-head">
          {models.map(({ record, result, ending, figures }, i) => (
            <div key={i}>
              <h2>
                <a
                  href={episodeHref(runs[i] ?? '', record.task.id, record.attempt, {
                    try: episodes[i]?.words.try || null,
                  })}
                >
                  {runs[0] !== runs[1] && plain(`${record.run}, `)}attempt {record.attempt}
                </a>{' '}
                <ResultBadge result={result} ending={ending} />
              </h2>
              <p class="muted">
                return {formatNumber(Number.isNaN(figures.unshaped) ? null : figures.unshaped)} · {figures.steps} steps
                · {plain(figures.player)}
              </p>
            </div>
          ))}
        </div>
        <VirtualList
          count={count}
          estimate={120}
          label="Steps of both attempts"
          shown={isScrolled ? START : null}
          render={(index) => (
            <div
              class={`pair ${parts !== null && index === parts ? 'parting' : ''} ${parts === null || index < parts ? 'shared' : ''}`}
            >
              {models.map((model, i) => (
                <BesideStep key={i} model={model} index={index} />
              ))}
            </div>
          )}
        />
      </section>
    </FoldsContext.Provider>
  )
}

const START = { index: 0 }

export function BesideStep({ model, index }: { readonly model: EpisodeModel; readonly index: number }) {
  const step = model.shown.steps[index]
  if (!step)
    return (
      <div class="beside-step none">
        {index === model.shown.steps.length ? <ResultBadge result={model.result} ending={model.ending} /> : ''}
      </div>
    )
  const number = model.answersOfStep[index]?.at(-1)
  const answer = number === undefined ? undefined : model.answers[number]?.completion
  const words = speechOf(step)
  const id = `${model.record.attempt}/${model.record.try}/${index}`
  return (
    <div class="beside-step">
      <p class="beside-call">
        <span class="muted">{numberOf(model, index)}</span> {step.seat !== undefined && plain(`${step.seat}: `)}
        {words === null && <Call name={step.action.tool} args={JSON.stringify(step.action.arguments)} />}
        {step.refused && <span class="loss"> ✗ {step.refused}</span>}{' '}
        <RewardValue model={model} value={step.reward.total} />
      </p>
      {answer?.reasoning && <ThoughtText id={`thought:${id}`} name="reasoning" text={answer.reasoning} />}
      {words !== null && <ModelText id={`says:${id}`} text={words} />}
      {answer?.text && answer.text !== words && <ModelText id={id} text={answer.text} />}
      <LongText id={`world:${id}`} text={step.observation.text} />
      <Attachments model={model} of={step.observation} />
    </div>
  )
}

/** The first step in which two episodes took different actions; `null` if there is none. */
function partingStep(models: readonly EpisodeModel[]): number | null {
  const [one = [], other = []] = models.map(({ shown }) => shown.steps.map(({ action }) => JSON.stringify(action)))
  const index = Array.from({ length: Math.max(one.length, other.length) }).findIndex((_, i) => one[i] !== other[i])
  return index < 0 ? null : index
}
