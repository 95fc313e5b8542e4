import { hash } from 'node:crypto'
import type { EpisodeRecord } from '@episodic/protocol'

/**
 * The identity of a sealed episode in six 32-bit words: three of the task id's SHA-256, the attempt, and two of the SHA-256
 * of the line. The first four are the **key** (which episode), the last two the **content** (what was sealed). Equal lines
 * have equal identities; two lines with the same key and different content conflict.
 *
 * Sorting by the words puts the attempts of a task side by side, with the tasks in pseudo-random order.
 */
export type EpisodeIdentity = Uint32Array

export const IDENTITY_WORDS = 6
export const KEY_WORDS = 4
export const TASK_WORDS = 3

/** What an identity is made of: which episode, and all of its line. */
type Identified = Pick<EpisodeRecord, 'task' | 'attempt'>

export function identityOf(record: Identified): EpisodeIdentity {
  const content = hash('sha256', JSON.stringify(record), 'buffer')
  return Uint32Array.of(...keyOf(record), content.readUInt32BE(0), content.readUInt32BE(4))
}

/** The first four words of an identity, without reading the steps. */
export function keyOf({ task, attempt }: Identified): Uint32Array {
  const id = hash('sha256', task.id, 'buffer')
  return Uint32Array.of(id.readUInt32BE(0), id.readUInt32BE(4), id.readUInt32BE(8), attempt)
}

/** A pseudo-random rank of an episode: 48 bits of the SHA-256 of attempt and task id. */
export function drawOf({ task, attempt }: Identified): number {
  return hash('sha256', `${attempt}/${task.id}`, 'buffer').readUIntBE(0, 6)
}

/** Compares the first `count` words of two identities, each of which starts at its offset. */
export function compareWords(
  a: ArrayLike<number>,
  aStart: number,
  b: ArrayLike<number>,
  bStart: number,
  count: number,
): number {
  for (let i = 0; i < count; i++) {
    const difference = (a[aStart + i] as number) - (b[bStart + i] as number)
    if (difference !== 0) return difference
  }
  return 0
}

/** A sealed line as far as it matters which of several lines of an episode counts. */
export interface SealedLine {
  readonly identity: EpisodeIdentity
  readonly failed: boolean
}

/** Orders lines of one episode, the one that counts first: finished before failed, then by content. */
export function comparePreference(a: SealedLine, b: SealedLine): number {
  return Number(a.failed) - Number(b.failed) || compareWords(a.identity, 0, b.identity, 0, IDENTITY_WORDS)
}
