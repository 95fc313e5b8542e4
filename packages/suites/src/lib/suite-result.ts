import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Proportion, Summary } from '@episodic/report/fold/summary'
import type { GoldenCheck } from './golden-check.ts'
import type { Mean } from './mean-return.ts'
import type { SuiteFile } from './suite-file.ts'
import type { ExactLine, PlayedLine, ScoredLine } from './suite-plan.ts'
import type { Figure } from './world-references.ts'

export interface Solved extends Proportion {
  /** The same without the tasks that are known to be wrong; `null` if there are none. */
  readonly withoutDefects: Proportion | null
  /** Tasks that were solved in some of their rollouts and not in others; `null` if each was played once. */
  readonly flips: number | null
  readonly verdicts: readonly (Proportion & { readonly name: string })[]
}

export interface PlayedFigures {
  /** The mean of the unshaped returns of finished episodes; `null` for fewer than two. */
  readonly here: Mean | null
  readonly finished: number
  /** Failed episodes are not part of a mean, and are never a return of zero. */
  readonly failed: number
  /** The share of episodes that are solved; `null` if the world does not say which are. */
  readonly solved: Solved | null
  readonly unearned?: Summary['success']['unearned']
  /** The folder of the run, relative to that of the suite. */
  readonly run: string
  /** SHA-256 of its sealed episodes. */
  readonly sealed: string
}

/**
 * A line of a suite, with what was found. `not-checked`: an episode failed, and the mean of the others is another
 * figure.
 */
export type LineResult =
  | (Omit<ExactLine, 'how' | 'measure'> & { readonly here: Figure; readonly verdict: 'same' | 'differs' })
  | (PlayedLine & PlayedFigures & { readonly verdict: 'inside' | 'differs' | 'not-checked' })
  // The score is `here`, on the scale on which random play has 0 and the best play 1.
  | (ScoredLine & PlayedFigures & { readonly score: Mean | null })

/**
 * The content of `suite.json`: what a suite measured and played, and whether its figures agree with their references.
 */
export interface SuiteResult {
  readonly format: 1
  /** The SHA-256 is of all that decides its figures: worlds, versions, lines, references, seed and episodes. */
  readonly suite: { readonly name: string; readonly version: string; readonly sha256: string }
  readonly versions: { readonly episodic: string; readonly node: string }
  readonly seed: string
  readonly episodes: number
  /** The policy of the scored lines; `null` without them. */
  readonly policy: string | null
  readonly worlds: readonly {
    readonly name: string
    readonly environment: { readonly name: string; readonly version: string }
    /** `null` if nobody says how many it has. */
    readonly tasks: number | null
    /** `null` without golden actions. */
    readonly golden: GoldenCheck | null
    readonly defects: SuiteFile['worlds'][number]['defects']
    readonly lines: readonly LineResult[]
  }[]
  /** Lines with a reference: `references = hold + differ + notChecked`. */
  readonly counts: ReturnType<typeof countVerdicts>
  readonly notReproduced: readonly string[]
  readonly sources: readonly { readonly name: string; readonly licence: string }[]
}

/** The files of a suite's result. Runs are in a folder of their own. */
export const SUITE_FILES = { result: 'suite.json', runs: 'runs' } as const

export function countVerdicts(worlds: SuiteResult['worlds']) {
  const verdicts = worlds.flatMap(({ lines }) =>
    lines.flatMap((line) => (line.kind === 'scored' ? [] : [line.verdict])),
  )
  const count = (...wanted: readonly string[]) => verdicts.filter((verdict) => wanted.includes(verdict)).length
  return {
    references: verdicts.length,
    hold: count('same', 'inside'),
    differ: count('differs'),
    notChecked: count('not-checked'),
  }
}

export function holdsSuite(folder: string): boolean {
  return [SUITE_FILES.result, SUITE_FILES.runs].some((name) => existsSync(join(folder, name)))
}
