import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { Finding, WaivedFinding } from './finding.ts'
import type { Hack } from './search/hack.ts'

/** In the order in which they are run: rules that differ by themselves fail others as well, and are mended first. */
export const CHECKS = [
  'determinism',
  'non-interference',
  'canaries',
  'seats',
  'hygiene',
  'rewards',
  'exploits',
] as const
export type CheckName = (typeof CHECKS)[number]

export const checkNames = z.array(
  z.enum(CHECKS, { error: ({ input }) => `There is no check "${input}". The checks are: ${CHECKS.join(', ')}.` }),
)

/** How names of checks are written in an option. */
export const READ_CHECKS = { text: { read: (text: string) => text.split(',').map((part) => part.trim() as CheckName) } }

export interface CheckOutcome {
  readonly name: CheckName
  readonly skipped: string | null
  /** One line: what was examined, and the result. */
  readonly summary: string
  readonly findings: readonly Finding[]
  /** Worth a look, but none of them fails the check. */
  readonly warnings: readonly Finding[]
  readonly figures: JsonObject
  /** Scripts that are paid for what was not done; left out by checks that search for none. */
  readonly hacks?: readonly Hack[]
}

export interface CheckResult extends Omit<CheckOutcome, 'skipped'> {
  readonly outcome: 'passed' | 'warned' | 'failed' | 'skipped'
  readonly summary: string
  /** The first five, and the first of each kind. */
  readonly findings: readonly Finding[]
  /** The first five waived findings, with the author's reasons. */
  readonly waived: readonly WaivedFinding[]
}

export interface CheckReport {
  readonly world: { readonly name: string; readonly version: string }
  /** The seed of every random draw. The same seed repeats the same checks. */
  readonly seed: string
  /**
   * `failed` if a check failed; else `incomplete` if a third of the checks or more were skipped, or a warning says that
   * hardly anything was compared or played, or that the time was over; `warned` if one warned or a waiver is unused.
   */
  readonly outcome: 'passed' | 'warned' | 'failed' | 'incomplete'
  /** Whether nothing failed. A check that was skipped has not failed. */
  readonly ok: boolean
  readonly checks: readonly CheckResult[]
  /** Waivers that matched no finding. Empty unless all checks ran, because one of the others may use them. */
  readonly unusedWaivers: readonly string[]
}

export function checkOutcome(
  name: CheckName,
  summary: string,
  { findings = [], warnings = [], figures = {} }: Partial<Pick<CheckOutcome, 'findings' | 'warnings' | 'figures'>> = {},
): CheckOutcome {
  return { name, skipped: null, summary, findings, warnings, figures }
}

export function skipped(name: CheckName, why: string): CheckOutcome {
  return { name, skipped: why, summary: why, findings: [], warnings: [], figures: {} }
}
