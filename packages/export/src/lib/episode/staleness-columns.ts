import type { EpisodeRecord } from '@episodic/protocol'
import { computeStaleness, policyVersionsOf } from '@episodic/report/fold/policy-versions'

export type StalenessColumns = {
  readonly policy_version?: string
  readonly staleness_at_seal?: number
  readonly staleness?: number
}

/**
 * Returns the columns by which a trainer corrects for old samples. Nothing is known of an episode without a version,
 * and it has none of them.
 *
 * @param current - the version that is trained with now.
 */
export function stalenessColumns(record: EpisodeRecord, current: string | undefined): StalenessColumns {
  const versions = policyVersionsOf(record)
  if (!versions) return {}
  const { oldest, newest } = versions
  const sealed = computeStaleness(oldest, newest)
  const used = current === undefined ? null : computeStaleness(oldest, current)
  return {
    policy_version: oldest,
    ...(sealed !== null && { staleness_at_seal: sealed }),
    ...(used !== null && { staleness: used }),
  }
}
