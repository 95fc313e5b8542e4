import type { EpisodeRecord } from '@episodic/protocol'

export interface PolicyVersions {
  readonly oldest: string
  readonly newest: string
}

/**
 * Returns the versions of an episode's answers, or that of its policy if no model answered; `null` if none is known. An
 * answer without a version of its own has that of the policy. Versions that cannot be counted are in the order of their
 * answers.
 */
export function policyVersionsOf({
  policy: { version },
  steps,
  undecided = [],
}: Pick<EpisodeRecord, 'policy' | 'steps' | 'undecided'>): PolicyVersions | null {
  let oldest: string | undefined
  let newest: string | undefined
  for (const { completions = [] } of [...steps, { completions: undecided }])
    for (const { policyVersion: each = version } of completions) {
      if (each === undefined) continue
      if (oldest === undefined || (computeStaleness(oldest, each) ?? 0) < 0) oldest = each
      if (newest === undefined || (computeStaleness(newest, each) ?? 1) > 0) newest = each
    }
  oldest ??= version
  return oldest === undefined ? null : { oldest, newest: newest ?? oldest }
}

/**
 * Returns how many updates lie between two versions: the difference of the numbers at their ends, for example 2 from
 * `step-3` to `step-5`. `null` if they are different, and do not differ in such a number alone.
 */
export function computeStaleness(sampled: string, used: string): number | null {
  if (sampled === used) return 0
  const [from, to] = [partsOf(sampled), partsOf(used)]
  return from && to && from.name === to.name ? to.number - from.number : null
}

function partsOf(version: string) {
  const [, name, digits] = /^(.*?)(\d{1,15})$/s.exec(version) ?? []
  return digits === undefined ? null : { name, number: Number(digits) }
}
