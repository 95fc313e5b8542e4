import { isMatchRecord, type SealedRecord } from '@episodic/protocol'

export function policySeedsOf(record: SealedRecord): string[] {
  return isMatchRecord(record) ? Object.values(record.seats).map(({ policy }) => policy.seed) : [record.policy.seed]
}
