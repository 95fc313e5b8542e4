import { contentId } from '@episodic/protocol'
import type { SessionRecord } from './session-record.ts'

/** Hash of what a world goes on from: its state as the store keeps it, the positions of chance, and virtual time. */
export function stateHash(stateText: string, { rng, now }: Pick<SessionRecord, 'rng' | 'now'>): string {
  return contentId(JSON.stringify([rng, now]) + stateText)
}
