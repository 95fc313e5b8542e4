import type { JsonObject } from '@episodic/protocol'
import type { Finding, WaivedFinding } from './finding.ts'

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

/** What a check saw of a world, before anything is waived. */
export interface Examined {
  readonly name: CheckName
  /** Why it does not apply to this world; `null` where it was made. */
  readonly skipped: string | null
  /** One line: what was looked at and what it came to. */
  readonly summary: string
  /** What makes it fail. */
  readonly findings: readonly Finding[]
  /** What an author should look at and what fails nothing. */
  readonly warnings: readonly Finding[]
  readonly figures: JsonObject
}

export interface CheckResult extends Omit<Examined, 'skipped'> {
  /** `failed` where there are findings, `warned` where there are warnings alone. */
  readonly outcome: 'passed' | 'warned' | 'failed' | 'skipped'
  /** One line: what was looked at and what it came to, or why it was skipped. */
  readonly summary: string
  /** What makes it fail. The first few; the rest repeat. */
  readonly findings: readonly Finding[]
  /** What the author has waived, with the reasons. The first few. */
  readonly waived: readonly WaivedFinding[]
}

export interface CheckReport {
  readonly world: { readonly name: string; readonly version: string }
  /** The seed that decided every draw: the same one makes the same checks. */
  readonly seed: string
  /** `failed` where a check failed, `warned` where one warned or a waiver is not used. */
  readonly outcome: 'passed' | 'warned' | 'failed'
  /** Whether nothing failed. A check that was skipped has not failed. */
  readonly ok: boolean
  readonly checks: readonly CheckResult[]
  /** Waivers of the world that no finding has used. Empty where not all checks were made: one of the others may use them. */
  readonly unusedWaivers: readonly string[]
}

/** Puts together what a check saw. */
export function examined(
  name: CheckName,
  summary: string,
  { findings = [], warnings = [], figures = {} }: Partial<Pick<Examined, 'findings' | 'warnings' | 'figures'>> = {},
): Examined {
  return { name, skipped: null, summary, findings, warnings, figures }
}

/** A check that does not apply, and why. */
export function skipped(name: CheckName, why: string): Examined {
  return { name, skipped: why, summary: why, findings: [], warnings: [], figures: {} }
}
