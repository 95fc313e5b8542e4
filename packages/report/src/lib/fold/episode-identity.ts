import { contentId, type EpisodeRecord } from '@episodic/protocol'

/**
 * The identity of a sealed line in seven 32-bit words: three of the task id's SHA-256, the attempt, the try, and two of the
 * SHA-256 of the line. The first four are the **key** (which episode), with the fifth they are the **play** (which of its
 * tries), and the last two are the **content** (what was sealed). Equal lines have equal identities; two lines of the same
 * play with different content conflict.
 *
 * Sorting by the words puts the attempts of a task side by side, with the tasks in pseudo-random order.
 */
export type EpisodeIdentity = Uint32Array

export const IDENTITY_WORDS = 7
/** The words of one play of an episode: the key and the number of the try. */
export const PLAY_WORDS = 5
export const KEY_WORDS = 4
export const TASK_WORDS = 3

/** What an identity is made of: which episode, and all of its line. */
type Identified = Pick<EpisodeRecord, 'task' | 'attempt' | 'try'>

export function identityOf(record: Identified): EpisodeIdentity {
  const content = contentId(JSON.stringify(record))
  return Uint32Array.of(...keyOf(record), record.try, wordAt(content, 0), wordAt(content, 1))
}

/** The first four words of an identity, without reading the steps. */
function keyOf({ task, attempt }: Identified): Uint32Array {
  const id = contentId(task.id)
  return Uint32Array.of(wordAt(id, 0), wordAt(id, 1), wordAt(id, 2), attempt)
}

/** A pseudo-random rank of an episode: 48 bits of the SHA-256 of attempt and task id. */
export function drawOf({ task, attempt }: Identified): number {
  return Number.parseInt(contentId(`${attempt}/${task.id}`).slice(0, 12), 16)
}

/** A 32-bit word of a hexadecimal hash. */
function wordAt(hash: string, index: number): number {
  return Number.parseInt(hash.slice(index * 8, index * 8 + 8), 16)
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

/**
 * Orders lines of one episode, the one that counts first: finished before failed, of finished ones the first try and of
 * failed ones the last, then by content.
 */
export function comparePreference(a: SealedLine, b: SealedLine): number {
  const tries = tryOf(a) - tryOf(b)
  return (
    Number(a.failed) - Number(b.failed) ||
    (a.failed ? -tries : tries) ||
    compareWords(a.identity, 0, b.identity, 0, IDENTITY_WORDS)
  )
}

/** Whether two lines contradict each other: they are of the same play, and differ. */
export function areConflicting(a: SealedLine, b: SealedLine): boolean {
  const [one, other] = [a.identity, b.identity]
  return compareWords(one, 0, other, 0, PLAY_WORDS) === 0 && compareWords(one, 0, other, 0, IDENTITY_WORDS) !== 0
}

function tryOf({ identity }: SealedLine): number {
  return identity[PLAY_WORDS - 1] as number
}
