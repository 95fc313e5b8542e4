import { contentId } from '@episodic/protocol'
import { sealNameOf } from '@episodic/report/grades/gradable-lines'
import type { GradeRecord, GraderRef } from '@episodic/report/grades/grade-record'
import { type LabelQuestion, personRef, personVerdictOf } from '@episodic/report/grades/labels'
import { formatNumber } from '@episodic/report/text/format'
import { useMemo, useState } from 'preact/hooks'
import { PrivateContext } from '../episode/change-list.tsx'
import { type EpisodeModel, episodeModel, type LoadedEpisode } from '../episode/episode-model.ts'
import { loadEpisode } from '../episode/load-episode.ts'
import { TranscriptTab } from '../episode/transcript-tab.tsx'
import { useKeys } from '../keys/use-keys.ts'
import { FoldsContext, useFolds } from '../parts/folds.tsx'
import { EmptyNote, ErrorNote, WhenLoaded } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import { ResultBadge } from '../parts/result.tsx'
import { episodeHref, formatRoute } from '../route/route.ts'
import type { Source, SourceError } from '../source/source.ts'
import { useLoaded, useSource } from '../source/use-source.ts'
import { blindRecord } from './blind-record.ts'
import { type LabelQueue, loadLabelQueue } from './label-queue.ts'
import { choicesOf, type LabelChoice } from './label-scale.ts'

interface RevealedVerdict {
  readonly run: string
  readonly verdict: GradeRecord
  readonly model: EpisodeModel
}

interface ToJudge {
  readonly run: string
  readonly queue: Omit<LabelQueue, 'next'>
  readonly grades: readonly GradeRecord[]
  readonly episode: LoadedEpisode | null
}

interface LabelViewProps {
  readonly run: string
  readonly question: LabelQuestion
  readonly who: string
}

export function LabelView({ run, question, who }: LabelViewProps) {
  const source = useSource()
  const person = useMemo(() => personRef(who, question), [who, question])
  const [round, setRound] = useState(0)
  const [given, setGiven] = useState<RevealedVerdict | null>(null)
  const [again, setAgain] = useState<RevealedVerdict | null>(null)
  const [problem, setProblem] = useState<SourceError | null>(null)
  const loaded = useLoaded((source) => loadNext(source, run, person, again), [run, person, round, again])

  const give = async (
    toJudge: ToJudge,
    value: GradeRecord['value'],
    why: string,
    evidence: GradeRecord['evidence'],
  ) => {
    const { run, episode, grades } = toJudge
    if (!episode) return
    const { record } = episode
    const model = episodeModel(record, null)
    const line = {
      task: record.task.id,
      attempt: record.attempt,
      try: record.try,
      seal: sealNameOf(record),
      seat: model.seat,
    }
    const at = new Date().toISOString()
    const name = record.run
    const verdict = personVerdictOf({ person, run: name, line, value, why, evidence, drawn: true, earlier: grades, at })
    try {
      await source.grade(run, verdict)
      setProblem(null)
      setGiven({ run, verdict, model })
      setAgain(null)
      setRound((before) => before + 1)
    } catch (error) {
      setProblem(error as SourceError)
    }
  }
  return (
    <>
      {problem && <ErrorNote error={problem} />}
      {given && <LastVerdict key={round} given={given} onAgain={() => setAgain(given)} />}
      <WhenLoaded of={loaded}>
        {(toJudge) =>
          toJudge.episode ? (
            <LabelEpisode
              key={`${toJudge.run}/${toJudge.episode.words.row}/${round}`}
              toJudge={toJudge}
              choices={choicesOf(question.scale)}
              onGive={(value, why, evidence) => void give(toJudge, value, why, evidence)}
              onUndo={given ? () => setAgain(given) : null}
            />
          ) : (
            <EmptyNote
              title={toJudge.queue.total === 0 ? 'There is nothing to judge.' : 'You have judged all of them.'}
            >
              <p>
                {toJudge.queue.total === 0 ? 'No episode has finished.' : `${toJudge.queue.judged} episodes.`}{' '}
                {run.split(',').map((id) => (
                  <a key={id} href={formatRoute({ screen: 'run', run: id, tab: 'grades' })}>
                    Grades of the run{' '}
                  </a>
                ))}
              </p>
            </EmptyNote>
          )
        }
      </WhenLoaded>
    </>
  )
}

/** The next episode of the draw: several runs are mixed, with the attempts of all at a task side by side. */
async function loadNext(
  source: Source,
  runs: string,
  person: GraderRef,
  again: RevealedVerdict | null,
): Promise<ToJudge> {
  const queues = await Promise.all(
    runs.split(',').map(async (run) => {
      const grades = await source.grades(run)
      const { next, ...counts } = await loadLabelQueue(source, run, person, grades)
      // Attempts of equal places are in an order that says nothing of the run.
      return { run, grades, counts, play: next, order: next && contentId(`${run} ${next.draw}`) }
    }),
  )
  const queue = queues.reduce(
    (sum, { counts }) => ({ total: sum.total + counts.total, judged: sum.judged + counts.judged }),
    { total: 0, judged: 0 },
  )
  const [first] = queues
    .filter(({ play }) => play)
    .sort((a, b) => (a.play?.draw ?? 0) - (b.play?.draw ?? 0) || (`${a.order}` < `${b.order}` ? -1 : 1))
  const chosen = (again ? queues.find(({ run }) => run === again.run) : first) ?? queues[0]
  const { run = '', grades = [] } = chosen ?? {}
  const play = again?.verdict ?? chosen?.play
  if (!play) return { run, queue, grades, episode: null }
  const found = await loadEpisode(source, { run, task: play.task, attempt: play.attempt, try: play.try })
  return { run, queue, grades, episode: found.kind === 'episode' ? found.episode : null }
}

interface LabelEpisodeProps {
  readonly toJudge: ToJudge
  readonly choices: readonly LabelChoice[]
  readonly onGive: (value: GradeRecord['value'], why: string, evidence: GradeRecord['evidence']) => void
  readonly onUndo: (() => void) | null
}

function LabelEpisode({ toJudge: { episode, queue }, choices, onGive, onUndo }: LabelEpisodeProps) {
  const record = episode?.record
  const model = useMemo(() => record && episodeModel(blindRecord(record), null), [record])
  const folds = useFolds()
  const [why, setWhy] = useState('')
  const [step, setStep] = useState<number | null>(null)
  const [marked, setMarked] = useState<readonly number[]>([])
  const [isSent, setSent] = useState(false)
  const give = (value: GradeRecord['value']) => {
    if (isSent || !record) return
    setSent(true)
    const evidence = marked.map((at) => ({ step: at, quote: quoteOf(record.steps[at]?.observation.text), found: true }))
    onGive(value, why.trim(), evidence)
  }
  const mark = (at: number) =>
    setMarked((before) =>
      before.includes(at) ? before.filter((one) => one !== at) : [...before, at].sort((a, b) => a - b),
    )
  const last = (record?.steps.length ?? 0) - 1
  useKeys('Judging', [
    ...choices.map(({ key, name, value }) => ({ key, label: name, run: () => give(value) })),
    { key: 'u', label: 'undecided', run: () => give(null) },
    ...(onUndo ? [{ key: 'z', label: 'judge the last one again', run: onUndo }] : []),
    { key: 'm', label: 'mark the chosen step', run: () => step !== null && mark(step) },
    { key: 'ArrowRight', label: 'next step', run: () => setStep(Math.min((step ?? -1) + 1, last)) },
    { key: 'ArrowLeft', label: 'step before', run: () => setStep(Math.max((step ?? 0) - 1, 0)) },
    { key: 'w', label: 'write a note', run: () => document.getElementById('label-why')?.focus() },
  ])
  if (!model) return null
  return (
    <>
      <section class="label-bar card flow mid" aria-label="Your verdict">
        <div class="flow tight">
          {choices.map(({ key, name, value }) => (
            <button key={key} type="button" class="button" disabled={isSent} onClick={() => give(value)}>
              <kbd>{key}</kbd> {plain(name)}
            </button>
          ))}
          <button type="button" class="button" disabled={isSent} onClick={() => give(null)}>
            <kbd>u</kbd> undecided
          </button>
        </div>
        <label class="label-why flow mid muted">
          Why
          <input id="label-why" value={why} onInput={({ currentTarget }) => setWhy(currentTarget.value)} />
        </label>
        <p class="label-place muted" role="status">
          {queue.judged + 1} of {queue.total}
          {marked.length > 0 && <> · marked: {marked.map((at) => `step ${at + 1}`).join(', ')}</>}
        </p>
      </section>
      <FoldsContext.Provider value={folds}>
        <PrivateContext.Provider value={{ shown: false, show: () => {} }}>
          <div class="episode blind">
            <TranscriptTab
              model={model}
              states={null}
              step={step}
              shown={step === null ? null : { index: step + 1 }}
              onStep={(at) => {
                setStep(at)
                mark(at)
              }}
            />
          </div>
        </PrivateContext.Provider>
      </FoldsContext.Provider>
    </>
  )
}

interface LastVerdictProps {
  readonly given: RevealedVerdict
  readonly onAgain: () => void
}

/** The verdict that was given last. What was hidden stays so until it is asked for: it may sway the next verdicts. */
function LastVerdict({ given: { run, verdict, model }, onAgain }: LastVerdictProps) {
  const [isRevealed, setRevealed] = useState(false)
  const { task, attempt, try: number, value } = verdict
  const returned = model.figures.unshaped
  const player =
    'policy' in model.record
      ? model.record.policy.name
      : Object.values(model.record.seats)
          .map(({ policy }) => policy.name)
          .join(', ')
  return (
    <p class="label-revealed block muted" role="status">
      You said <b>{value === null ? 'undecided' : value === true ? 'yes' : value === false ? 'no' : String(value)}</b>.{' '}
      {isRevealed ? (
        <>
          The last one was <ResultBadge result={model.result} ending={model.ending} />
          {!Number.isNaN(returned) && <> with a return of {formatNumber(returned)}</>}, played by {plain(player)}.{' '}
          <a href={episodeHref(run, task, attempt, { try: number })}>Open it</a>
        </>
      ) : (
        <button type="button" class="button small" onClick={() => setRevealed(true)}>
          Show how it ended and who played
        </button>
      )}{' '}
      <button type="button" class="button small" onClick={onAgain}>
        <kbd>z</kbd> judge it again
      </button>
    </p>
  )
}

function quoteOf(text = ''): string {
  return text.slice(0, 200)
}
