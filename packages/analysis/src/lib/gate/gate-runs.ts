import type { Flip } from '@episodic/report/compare/comparison'
import { voidBounds } from '@episodic/report/fold/void-bounds'
import { otherDifferences } from '@episodic/report/notes/comparison-notes'
import { noteVoids } from '@episodic/report/notes/void-notes'
import { shownPath } from '@episodic/run/base/console'
import { HarnessError } from '@episodic/run/base/harness-error'
import { anchorsNote } from '@episodic/run/folder/anchors/anchors-file'
import { unearnedOfRun } from '../compare/cheating/unearned-of-run.ts'
import { compareRuns } from '../compare/compare-runs.ts'
import type { ComparedRun } from '../compare/compared-run.ts'
import { countPlays, type Play } from '../compare/played-tasks.ts'
import { readOrWhy } from '../compare/read-compared-run.ts'
import { type LeftOut, leaveOut } from '../quarantine/quarantine-file.ts'
import type { Baseline } from './baseline.ts'
import type { GradeCondition } from './condition.ts'
import type { Decision, GateVerdict } from './decision.ts'
import { type Conditions, countEpisodes, decideFigures, decideGrade, type GateCounts } from './figures.ts'
import type { GateEntry } from './gate-entry.ts'
import { decideNotWorse } from './not-worse.ts'

export interface GateConditions {
  readonly figures: Conditions
  readonly grades: readonly GradeCondition[]
  /** The runs that it may not be worse than, and by how much it may, as a share. */
  readonly notWorse: { readonly baseline: Baseline; readonly margin: number } | null
}

export interface GatedTask {
  readonly id: string
  readonly prompt: string
  readonly finished: number
  readonly successes: number
  readonly failures: readonly string[]
}

export interface GatedRun {
  readonly run: string
  readonly world: string
  readonly player: string
  /** Why nothing could be decided of it, or not all; `null` if it could. */
  readonly problem: string | null
  readonly counts: GateCounts | null
  readonly decisions: readonly Decision[]
  /** The name of the baseline that it is itself, so that it was not compared; `null` if it is none. */
  readonly baseline: string | null
  readonly notes: readonly string[]
  /** Episodes that the baseline solved and this run did not: how many, and the first of them. */
  readonly lost: { readonly count: number; readonly flips: readonly Flip[] } | null
  readonly tasks: readonly GatedTask[]
}

export interface GateResult {
  /** `error` if something could not be decided for another reason than chance. */
  readonly verdict: GateVerdict | 'error'
  /** Whether all conditions are met, or those that are not are undecided and may be. */
  readonly passed: boolean
  readonly runs: readonly GatedRun[]
}

export interface GateOptions {
  /** Of several seats; default: the one in focus. */
  readonly seat?: string | undefined
  readonly undecided: 'pass' | 'fail'
  readonly without?: LeftOut | undefined
  readonly onTorn: (folder: string, line: number) => void
}

/** A run that cannot be read or compared is a problem, and the others go on. */
export async function gateRuns(
  entries: readonly GateEntry[],
  conditions: GateConditions,
  options: GateOptions,
): Promise<GateResult> {
  const runs: GatedRun[] = []
  for (const entry of entries) runs.push(await gateRun(entry, conditions, options))
  const [{ notWorse }, { without }] = [conditions, options]
  if (without && runs.every(({ world, counts }) => counts && world !== without.environment.name))
    throw new HarnessError('runs-differ', `${without.file} is of ${without.environment.name}, and no run is.`)
  // A gate of a run against itself would pass for ever.
  if (notWorse && runs.every(({ baseline }) => baseline !== null))
    return { verdict: 'error', passed: false, runs: runs.map(withItself) }
  const verdicts = runs.flatMap(({ decisions }) => decisions.map(({ verdict }) => verdict))
  const worst = (['missed', 'undecided'] as const).find((bad) => verdicts.includes(bad)) ?? 'met'
  const verdict = runs.some(({ problem }) => problem !== null) ? 'error' : worst
  const passed = verdict === 'met' || (verdict === 'undecided' && options.undecided === 'pass')
  return { verdict, passed, runs }
}

async function gateRun(entry: GateEntry, conditions: GateConditions, options: GateOptions): Promise<GatedRun> {
  const { folder } = entry
  const whole = await readOrWhy(folder, { seat: options.seat, onTorn: (line) => options.onTorn(folder, line) })
  const isOf = (world: string) => 'problem' in whole || whole.manifest.configuration.environment.name === world
  const without = options.without && isOf(options.without.environment.name) ? options.without : undefined
  const read = leaveOut(whole, without)
  if ('problem' in read)
    return {
      ...{ run: shownPath(folder), world: entry.world ?? '', player: entry.player ?? '', problem: read.problem },
      ...{ counts: null, decisions: [], baseline: null, notes: [], lost: null, tasks: [] },
    }
  const { environment, policy } = read.manifest.configuration
  const named = { run: shownPath(folder), world: environment.name, player: entry.player ?? policy.name }
  const plays = countPlays(read.tasks.values())
  const decisions: Decision[] = []
  // What is not in the rate, and what was played again.
  const asksSuccess = conditions.figures.success !== undefined || conditions.notWorse !== null
  const notes = [
    ...noteVoids({ ...plays, bounds: voidBounds(plays), ...unearnedOfRun(read, [read]) }),
    ...(without ? [without.note] : asksSuccess ? [await anchorsNote(folder)] : []),
  ]
  let lost: GatedRun['lost'] = null
  let problem: string | null = null
  let itself: string | null = null
  try {
    decisions.push(...decideFigures(read, conditions.figures))
    for (const condition of conditions.grades) decisions.push(decideGrade(read, condition))
    const { notWorse } = conditions
    const other = notWorse && findCounterpart(named, notWorse.baseline)
    if (other && isSameRun(other, read, folder)) itself = notWorse.baseline.name
    else if (notWorse && other) {
      const { margin, baseline } = notWorse
      if (read.tasks.size === 0) throw new HarnessError('runs-differ', 'It has no sealed episode to compare.')
      const compared = compareRuns(other.run, read)
      decisions.push(decideNotWorse(compared, { margin, baseline: baseline.name }))
      lost = compared.episodes.lost
      for (const { key, a, b } of otherDifferences(compared))
        notes.push(`${key} also differs: ${a} in ${baseline.name}, ${b} in this run.`)
    }
  } catch (error) {
    if (!HarnessError.is(error)) throw error
    problem = error.message.replace(/\s+/g, ' ')
  }
  const tasks = [...read.tasks.keys()].sort().map((id) => toGatedTask(id, read))
  return { ...named, counts: countEpisodes(read), decisions, baseline: itself, lost, notes, problem, tasks }
}

function findCounterpart({ world, player }: Pick<GatedRun, 'world' | 'player'>, { name, runs }: Baseline) {
  const ofWorld = runs.filter(({ run }) => run.manifest.configuration.environment.name === world)
  const counterpart = ofWorld.find((other) => other.player === player) ?? ofWorld[0]
  if (!counterpart) throw new HarnessError('runs-differ', `${name} has no run of ${world}.`)
  return counterpart
}

function isSameRun(other: Baseline['runs'][number], { manifest }: ComparedRun, folder: string): boolean {
  const kept = other.run.manifest
  const isCopy =
    kept.createdAt === manifest.createdAt &&
    kept.name === manifest.name &&
    kept.configuration.policy.name === manifest.configuration.policy.name
  return other.folder === folder || (kept.createdAt !== undefined && isCopy)
}

function withItself(run: GatedRun): GatedRun {
  const problem = `Nothing was compared: ${run.baseline} is this run itself. Name another run or baseline with --not-worse.`
  return { ...run, problem: run.problem ?? problem }
}

function toGatedTask(id: string, { tasks }: ComparedRun): GatedTask {
  const { prompt = '', plays = new Map<number, Play>() } = tasks.get(id) ?? {}
  const { finished, successes } = countPlays([{ plays }])
  const failed = [...plays.values()].filter(({ outcome }) => outcome === 'failed')
  return { id, prompt, finished, successes, failures: failed.map(({ ending }) => ending) }
}
