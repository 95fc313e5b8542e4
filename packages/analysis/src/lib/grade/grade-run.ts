import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { seedFor } from '@episodic/protocol'
import { wellFormed } from '@episodic/protocol/internal'
import { checkEvidence } from '@episodic/report/grades/evidence'
import type { GradableLine } from '@episodic/report/grades/gradable-lines'
import { graderKeyOf } from '@episodic/report/grades/grade-fold'
import type { GradeRecord, GraderRef } from '@episodic/report/grades/grade-record'
import { gradedEpisodeOf } from '@episodic/report/grades/graded-episode'
import { findVerdictProblem, type Grader, type Verdict } from '@episodic/report/grades/grader'
import { HarnessError } from '@episodic/run/base/harness-error'
import { createGradeAppender, readGrades } from '@episodic/run/folder/grades-file'
import pLimit from 'p-limit'
import type { GradableEpisode, GradableRun } from './gradable-run.ts'
import { GraderFaults } from './grader-faults.ts'
import { isPass, obeyedBy, PLANTED, type PlantedOrder, plantOrder } from './planted/planted-order.ts'
import { pairForWords, type SwappedWords, swapWords } from './planted/swap-words.ts'

export interface GradeRunOptions {
  readonly grader: Grader
  readonly ref: GraderRef
  /** The rules, if the grader needs states. */
  readonly environment: EnvironmentDefinition | null
  /** Grades so many episodes, drawn at random. Default: all. */
  readonly sample?: number | undefined
  /** Grades again what this grader has graded. Default: false. */
  readonly again?: boolean | undefined
  /** Verdicts that are asked for at once. */
  readonly concurrency: number
  /** Tokens that may be used; shared by all graders and runs of a command. */
  readonly budget: TokenBudget
  readonly signal: AbortSignal
  readonly onProgress?: (progress: GradeProgress) => void
}

export interface GradeProgress {
  readonly given: number
  readonly wanted: number
  readonly failed: number
}

export interface TokenBudget {
  readonly limit: number | null
  spent: number
}

export interface GradedRun extends GradeProgress {
  readonly kept: number
  readonly problem: string | null
  readonly stopped: 'interrupted' | 'budget' | null
}

interface Wanted {
  readonly line: GradableLine
  readonly vote: number
  readonly words?: SwappedWords
  readonly order?: { readonly number: number; readonly before: GradeRecord['value']; readonly isControl?: boolean }
}

/**
 * Grades the finished episodes of a run that count, in the order of their draw, and appends each verdict at once. What
 * the same grader has graded before is kept, so that an interrupted command continues where it was; a model that gave
 * no verdict is asked again. A judge is also asked about up to four planted episodes, and about a control of each that
 * it passes without the word of the order.
 *
 * Sealed lines are only read. Rejects with `grader-failed` after five faults of the grader in a row, and with errors
 * that are the same for every episode, such as `model-refused`.
 */
export async function gradeRun(run: GradableRun, options: GradeRunOptions): Promise<GradedRun> {
  const { grader, ref, sample, again = false, concurrency, budget, signal, onProgress = () => {} } = options
  const key = graderKeyOf(ref)
  const earlier = (await readGrades(run.gradesFile)).filter(({ grader: by }) => graderKeyOf(by) === key)
  const { isKept, isSwapped, revisionOf } = votesOf(earlier, again)
  const lines = run.lines.filter(({ counts }) => counts).slice(0, sample)
  const all = lines.flatMap((line) => Array.from({ length: grader.votes }, (_, vote): Wanted => ({ line, vote })))
  const wanted = all.filter(({ line, vote }) => !isKept(line, vote))
  const append = createGradeAppender(run.gradesFile)
  const faults = new GraderFaults(grader.name)
  let [given, asked] = [0, wanted.length]
  let plantedSoFar = again
    ? 0
    : earlier.filter(({ planted, value }) => planted && !planted.control && !planted.words && value !== null).length
  const isOver = () =>
    signal.aborted || faults.fatal !== null || (budget.limit !== null && budget.spent >= budget.limit)
  const progress = () => ({ given, wanted: asked, failed: faults.count })

  const values = new Map(
    earlier.flatMap((one) => (one.planted || one.vote > 0 ? [] : [[toPlace(one), one.value] as const])),
  )
  const grade = async ({ line, vote, order, words }: Wanted): Promise<void> => {
    if (isOver()) return
    try {
      const episode = await run.read(line)
      const swapped = words && swapWords(episode.record, (await run.read(words.from)).record)
      if (words && (!swapped || isSwapped({ seal: swapped.seal, seat: line.seat }))) return
      if (words) asked += 1
      const copy = swapped && { ...swapped, ordered: true as const, code: '', before: null, isControl: true }
      const planted = copy || (order && plantOrder(episode.record, grader.scale, { seal: line.seal, ...order }))
      const judged = planted ? { ...episode, record: planted.record } : episode
      const verdict = await askGrader(options, judged, { seal: planted?.seal ?? line.seal, seat: line.seat, vote })
      budget.spent += (verdict.asked?.promptTokens ?? 0) + (verdict.asked?.completionTokens ?? 0)
      const record = recordOf(run, options, { line, vote, revisionOf, judged, verdict, planted, words })
      if (!planted && vote === 0) values.set(toPlace(line), record.value)
      await append(record)
      given += 1
      faults.endRow()
      const mayPlant = grader.kind === 'model' && !planted && vote === 0 && plantedSoFar < PLANTED
      if (mayPlant && !isPass(grader.scale, record.value)) await plant(line, record.value)
      if (order && record.planted?.by === 'value' && !order.isControl) {
        asked += 1
        await grade({ line, vote: 0, order: { ...order, isControl: true } })
      }
    } catch (error) {
      if (!signal.aborted) faults.add(line, error)
    }
    onProgress(progress())
  }
  const plant = (line: GradableLine, before: GradeRecord['value']): Promise<void> => {
    asked += 1
    return grade({ line, vote: 0, order: { number: plantedSoFar++, before } })
  }

  onProgress(progress())
  const limit = pLimit(concurrency)
  await Promise.all(wanted.map((one) => limit(grade, one)))
  // Where the judge passed nearly all, orders are planted in what it passed too.
  if (grader.kind === 'model' && wanted.length > 0)
    for (const line of lines.slice(0, Math.max(0, PLANTED - plantedSoFar))) if (!isOver()) await plant(line, null)
  if (grader.kind === 'model')
    for (const words of pairForWords(lines, (line) => values.get(toPlace(line))))
      if (!isOver()) await grade({ line: words.line, vote: 0, words })
  if (faults.fatal !== null) throw faults.fatal
  const isDone = given + faults.count >= asked
  return {
    ...progress(),
    kept: all.length - wanted.length,
    problem: faults.first,
    stopped: signal.aborted ? 'interrupted' : isDone ? null : 'budget',
  }
}

type Judged = Pick<GradeRecord, 'seal'> & { readonly seat?: string | null | undefined }
const toPlace = ({ seal, seat }: Judged) => `${seal} ${seat ?? ''}`

/** Says which votes were given before, also with other words, and so are kept, and which revision a vote is. */
function votesOf(earlier: readonly GradeRecord[], again: boolean) {
  const toKey = (line: Judged, vote: number) => `${toPlace(line)} ${vote}`
  const votes = Map.groupBy(earlier, (record) => toKey(record, record.vote))
  // A model that gave no verdict is asked again.
  const isGiven = ({ planted, value, grader }: GradeRecord) => !planted && (value !== null || grader.kind !== 'model')
  return {
    isSwapped: (line: Judged) =>
      !again && (votes.get(toKey(line, 0))?.some(({ planted, value }) => planted?.words && value !== null) ?? false),
    isKept: (line: Judged, vote: number) => !again && (votes.get(toKey(line, vote))?.some(isGiven) ?? false),
    revisionOf: (line: Judged, vote: number) =>
      Math.max(0, ...(votes.get(toKey(line, vote)) ?? []).map(({ revision }) => revision + 1)),
  }
}

async function askGrader(
  { grader, ref, environment, signal }: GradeRunOptions,
  { record, states }: GradableEpisode,
  { seal, seat, vote }: { readonly seal: string; readonly seat: string | null; readonly vote: number },
): Promise<Verdict> {
  const needsStates = grader.needs.includes('states')
  const context = gradedEpisodeOf(record, grader.needs, {
    seat,
    ...(needsStates && environment && { states: states(environment) }),
  })
  const seed = seedFor(ref.sha256, seal, seat ?? '', vote)
  // The parts that it needs are there.
  const verdict = await grader.grade({ ...context, vote, seed, signal } as Parameters<Grader['grade']>[0])
  const wrong = findVerdictProblem(grader.scale, verdict)
  if (wrong !== null) throw new HarnessError('grader-failed', `The grader ${grader.name} is wrong: ${wrong}.`)
  return verdict
}

interface GradedLine extends Wanted {
  readonly revisionOf: ReturnType<typeof votesOf>['revisionOf']
  readonly judged: GradableEpisode
  readonly verdict: Verdict
  readonly planted: PlantedOrder | undefined
}

function recordOf(
  { name }: GradableRun,
  { grader, ref }: GradeRunOptions,
  { line, vote, revisionOf, judged, verdict, planted, words }: GradedLine,
): GradeRecord {
  const { task, attempt, try: number, seat } = line
  const { value, why, evidence = [], asked } = verdict
  const seal = planted?.seal ?? line.seal
  const place = { seal, ...(seat !== null && { seat }) }
  const passes = (before: GradeRecord['value'], after: GradeRecord['value']) => ({
    before: isPass(grader.scale, before),
    after: isPass(grader.scale, after),
  })
  const by = planted && !words && obeyedBy(planted, grader.scale, verdict)
  return wellFormed<GradeRecord>({
    format: 1,
    run: name,
    task,
    attempt,
    try: number,
    ...place,
    grader: ref,
    vote,
    revision: revisionOf(place, vote),
    // All episodes, or the first in the order of the draw.
    drawn: true,
    value,
    why,
    evidence: checkEvidence(judged.record, evidence),
    ...(asked && { asked }),
    ...(planted && {
      planted: {
        ordered: planted.ordered,
        obeyed: Boolean(by),
        ...(by && { by }),
        ...(words
          ? { words: { success: line.success, ...passes(words.before, value) } }
          : planted.isControl && { control: true as const }),
      },
    }),
    at: new Date().toISOString(),
  })
}
