import type { CheckName, CheckResult } from '../check-report.ts'
import type { Finding } from '../finding.ts'

/** What was run, and what is wrong by it: a check, or what only a report plays and reads. */
export interface Evidence extends Pick<CheckResult, 'outcome' | 'summary' | 'warnings' | 'figures'> {
  readonly name: CheckName | 'served' | 'matrix' | 'tasks' | 'package' | 'manifest'
  readonly findings: readonly Problem[]
  /** They leave their ids without an answer, for a reason. */
  readonly waived: readonly (Problem & { readonly reason: string })[]
}

/** Its name is a kind of finding, or the id in RFC 008 that fails by it. */
export type Problem = Pick<Finding, 'what' | 'again' | 'advice'> & { readonly name: string }

export function notRun(name: Evidence['name'], summary: string): Evidence {
  return { name, outcome: 'skipped', summary, findings: [], warnings: [], waived: [], figures: {} }
}

export function wasRun(seen: Pick<Evidence, 'name' | 'summary' | 'findings' | 'figures'>): Evidence {
  return { outcome: 'passed', warnings: [], waived: [], ...seen }
}

/** Returns a problem for each id that does not hold. */
export function unmet(held: Readonly<Record<string, boolean>>, problem: Omit<Problem, 'name'>): Problem[] {
  return Object.keys(held).flatMap((name) => (held[name] ? [] : [{ name, ...problem }]))
}
