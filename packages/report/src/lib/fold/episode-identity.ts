import { contentId, type EpisodeRecord } from '@episodic/protocol'
import { compareTries } from './which-line-counts.ts'

/**
 * The identity of a sealed line in seven 32-bit words: three of the task id's SHA-256, the attempt, the try, and two of
 * the SHA-256 of the line. The first four are the **key** (which episode), with the fifth they are the **play** (which
 * of its tries), and the last two are the **content** (what was sealed). Equal lines have equal identities; two lines
 * of the same play with different content conflict.
 *
 * Sorting by the words puts the attempts of a task side by side, with the tasks in pseudo-random order.
 */
export type EpisodeIdentity = Uint32Array

export const IDENTITY_WORDS = 7
/** The words of one play of an episode: the key and the number of the try. */
export const PLAY_WORDS = 5
export const KEY_WORDS = 4
export const TASK_WORDS = 3

type Identified = Pick<EpisodeRecord, 'task' | 'attempt' | 'try'>

export function identityOf(record: Identified, text = JSON.stringify(record)): EpisodeIdentity {
  const content = contentId(text)
  const identity = new Uint32Array(IDENTITY_WORDS)
  const id = contentId(record.task.id)
  for (let word = 0; word < TASK_WORDS; word++) identity[word] = wordAt(id, word)
  identity[TASK_WORDS] = record.attempt
  identity[KEY_WORDS] = record.try
  identity[PLAY_WORDS] = wordAt(content, 0)
  identity[PLAY_WORDS + 1] = wordAt(content, 1)
  return identity
}

/** A pseudo-random rank of an episode: 48 bits of the SHA-256 of attempt and task id. */
export function drawOf({ task, attempt }: Identified): number {
  return Number.parseInt(contentId(`${attempt}/${task.id}`).slice(0, 12), 16)
}

function wordAt(hash: string, index: number): number {
  return Number.parseInt(hash.slice(index * 8, index * 8 + 8), 16)
}

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

export interface SealedLine {
  readonly identity: EpisodeIdentity
  readonly failed: boolean
}

export function comparePreference(a: SealedLine, b: SealedLine): number {
  return (
    compareTries(a.failed, tryOf(a), b.failed, tryOf(b)) || compareWords(a.identity, 0, b.identity, 0, IDENTITY_WORDS)
  )
}

export function areConflicting(a: SealedLine, b: SealedLine): boolean {
  const [one, other] = [a.identity, b.identity]
  return compareWords(one, 0, other, 0, PLAY_WORDS) === 0 && compareWords(one, 0, other, 0, IDENTITY_WORDS) !== 0
}

function tryOf({ identity }: SealedLine): number {
  return identity[PLAY_WORDS - 1] as number
}
