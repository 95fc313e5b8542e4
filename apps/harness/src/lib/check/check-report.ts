import type { JsonObject } from '@episodic/protocol'

/** The checks of a world, in the order in which they are made. */
export const CHECKS = [
  'non-interference',
  'canaries',
  'determinism',
  'hygiene',
  'rewards',
  'learnability',
  'exploits',
] as const
export type CheckName = (typeof CHECKS)[number]

/** Two texts that should have been equal, cut to what surrounds the first byte that is not. */
export interface Difference {
  /** Counts UTF-16 code units from 0. */
  readonly at: number
  readonly first: string
  readonly second: string
}

/** Something that is wrong with a world. */
export interface Finding {
  /** What was found. */
  readonly what: string
  /** How to see it again: parameters, seeds, step and action. */
  readonly again: string
  /** What to do about it. */
  readonly advice: string
  readonly difference?: Difference
}

export interface CheckResult {
  readonly name: CheckName
  readonly outcome: 'ok' | 'failed' | 'skipped'
  /** One line: what was looked at and what it came to, or why it was skipped. */
  readonly summary: string
  /** What makes it fail. The first few; the rest repeat. */
  readonly findings: readonly Finding[]
  /** What an author should look at and what fails nothing. */
  readonly warnings: readonly string[]
  readonly figures: JsonObject
}

export interface CheckReport {
  readonly world: { readonly name: string; readonly version: string }
  /** The seed that decided every draw: the same one makes the same checks. */
  readonly seed: string
  /** Whether nothing failed. A check that was skipped has not failed. */
  readonly ok: boolean
  readonly checks: readonly CheckResult[]
}

/** How many findings of one check are kept. */
const KEPT = 5

/** Puts a result together: it failed where there is a finding. */
export function resultOf(
  name: CheckName,
  summary: string,
  { findings = [], warnings = [], figures = {} }: Partial<Pick<CheckResult, 'findings' | 'warnings' | 'figures'>> = {},
): CheckResult {
  const outcome = findings.length > 0 ? 'failed' : 'ok'
  return { name, outcome, summary, findings: findings.slice(0, KEPT), warnings, figures }
}

/** The result of a check that does not apply, and why. */
export function skipped(name: CheckName, why: string): CheckResult {
  return { name, outcome: 'skipped', summary: why, findings: [], warnings: [], figures: {} }
}
