import type { Comparison } from '@episodic/report/compare/comparison'
import { cleanText } from '@episodic/report/text/format'
import { HarnessError } from '@episodic/run/base/harness-error'
import { alignTasks } from './align-tasks.ts'
import { compareRuns, whyNothing } from './compare-runs.ts'
import type { ComparedRun } from './compared-run.ts'

export interface UnreadRun {
  readonly name: string
  readonly problem: string
}

export interface ComparedWithBaseline {
  readonly baseline: ComparedRun
  readonly others: readonly ComparedRun[]
  readonly comparisons: readonly Comparison[]
  /** The places among the given runs of the baseline and of `others`. */
  readonly places: readonly number[]
  readonly leftOut: readonly LeftOut[]
}

interface LeftOut {
  readonly place: number
  readonly name: string
  readonly why: string
}

/**
 * Compares each run with the first one, paired by the tasks that both have. A run that has nothing to compare, or that
 * differs in more than its policy may, is left out, and the others are compared. If the first has no finished episode,
 * the next run that has one is the baseline in its place, and the reason says so.
 *
 * Throws `runs-differ`, naming each run and why it is left out, if no two runs can be compared, and if the first was
 * `chosen` as the baseline and has no finished episode.
 */
export function compareWithBaseline(
  runs: readonly (ComparedRun | UnreadRun)[],
  { chosen = false }: { readonly chosen?: boolean } = {},
): ComparedWithBaseline {
  const leftOut: LeftOut[] = []
  const having: { readonly place: number; readonly run: ComparedRun }[] = []
  for (const [place, run] of runs.entries()) {
    const why = 'problem' in run ? run.problem : whyNothing(run)
    if (why !== null) leftOut.push({ place, name: getRunName(run), why: cleanText(why) })
    else if ('tasks' in run) having.push({ place, run })
  }
  const [first, ...candidates] = having
  if (!first || (chosen && first.place > 0)) throw nothingToCompare(leftOut)
  const baseline = first.run
  const others: typeof having = []
  const comparisons: Comparison[] = []
  for (const candidate of candidates) {
    const compared = compareOrWhy(baseline, candidate.run)
    if (typeof compared === 'string') {
      leftOut.push({ place: candidate.place, name: getRunName(candidate.run), why: cleanText(compared) })
      continue
    }
    others.push(candidate)
    comparisons.push(compared)
  }
  if (comparisons.length === 0) throw nothingToCompare(leftOut)
  return {
    baseline,
    others: others.map(({ run }) => alignTasks(baseline, run)),
    comparisons,
    places: [first, ...others].map(({ place }) => place),
    leftOut: leftOut
      .toSorted((a, b) => a.place - b.place)
      .map((one) =>
        one.place > 0 ? one : { ...one, why: `${one.why} The baseline is ${getRunName(baseline)} instead.` },
      ),
  }
}

function getRunName(run: ComparedRun | UnreadRun): string {
  return 'problem' in run ? run.name : run.manifest.name
}

function compareOrWhy(baseline: ComparedRun, run: ComparedRun): Comparison | string {
  try {
    const comparison = compareRuns(baseline, run)
    return comparison.success ? comparison : `No task has a finished episode both in it and in ${getRunName(baseline)}.`
  } catch (error) {
    if (HarnessError.is(error, 'runs-differ')) return error.message
    throw error
  }
}

function nothingToCompare(leftOut: readonly LeftOut[]): HarnessError {
  const reasons = leftOut.map(({ name, why }) => `${name}: ${why}`)
  return new HarnessError('runs-differ', ['There are no two runs to compare.', ...reasons])
}
