import type { EpisodeRecord } from '@episodic/protocol'
import {
  compareWords,
  type EpisodeIdentity,
  IDENTITY_WORDS,
  KEY_WORDS,
  PLAY_WORDS,
  TASK_WORDS,
} from './episode-identity.ts'
import { compareTries } from './which-line-counts.ts'

export const OUTCOMES = [
  { kind: 'failed', success: null },
  ...(['terminated', 'truncated'] as const).flatMap((kind) =>
    [null, false, true].map((success) => ({ kind, success })),
  ),
] as const

export function outcomeNumber(outcome: EpisodeRecord['outcome']): number {
  const [kind, success] = outcome.kind === 'failed' ? ['failed', null] : [outcome.end.kind, outcome.success ?? null]
  return OUTCOMES.findIndex((other) => other.kind === kind && other.success === success)
}

export interface EpisodeRow {
  readonly outcome: number
  readonly total: number
  readonly unshaped: number
  readonly discounted: number
  /** Milliseconds since the start of the run. */
  readonly started: number
  readonly ended: number
  readonly steps: number
  readonly refused: number
  /** Numbers that stand for names and groups; the table does not interpret them. */
  readonly ending: number
  readonly tags: number
  readonly verdicts: number
  readonly split: number
  readonly difficulty: number
  /** The number of its tree within the task, from 1; 0 for none. */
  readonly tree: number
}

interface Block {
  readonly words: Uint32Array
  readonly floats: Float64Array
}

export type EpisodeTable = ReturnType<typeof createEpisodeTable>

const FLOATS = ['total', 'unshaped', 'discounted', 'started', 'ended'] as const
const WORDS = ['outcome', 'steps', 'refused', 'ending', 'tags', 'verdicts', 'split', 'difficulty', 'tree'] as const
const IDENTITY = FLOATS.length * 2
const FIRST_WORD = IDENTITY + IDENTITY_WORDS
const ROW_WORDS = Math.ceil((FIRST_WORD + WORDS.length) / 2) * 2
const BLOCK_ROWS = 4_096

/**
 * Creates an empty table of rows of one episode each, by identity. A row takes 104 bytes, and 5 to 11 more in the index
 * of lines.
 *
 * Rows are stored in blocks, so growing copies nothing and leaves at most one block unused.
 */
export function createEpisodeTable() {
  const blocks: Block[] = []
  let size = 0
  let slots = new Uint32Array(1_024)

  const wordsOf = (row: number) => (blocks[Math.floor(row / BLOCK_ROWS)] as Block).words
  const floatsOf = (row: number) => (blocks[Math.floor(row / BLOCK_ROWS)] as Block).floats
  const read = (row: number): EpisodeRow =>
    Object.fromEntries([
      ...FLOATS.map((name, i) => [name, floatsOf(row)[startOf(row) / 2 + i]]),
      ...WORDS.map((name, i) => [name, wordsOf(row)[startOf(row) + FIRST_WORD + i]]),
    ])
  const findSlot = (words: ArrayLike<number>, start: number): number => {
    const mask = slots.length - 1
    let slot = ((words[start] as number) ^ (words[start + 3] as number) ^ (words[start + 5] as number)) & mask
    for (;;) {
      const row = (slots[slot] as number) - 1
      if (row < 0 || compareWords(wordsOf(row), startOf(row) + IDENTITY, words, start, IDENTITY_WORDS) === 0)
        return slot
      slot = (slot + 1) & mask
    }
  }
  const grow = () => {
    slots = new Uint32Array(slots.length * 2)
    for (let row = 0; row < size; row++) slots[findSlot(wordsOf(row), startOf(row) + IDENTITY)] = row + 1
  }
  const compareRows = (a: number, b: number, count: number) =>
    compareWords(wordsOf(a), startOf(a) + IDENTITY, wordsOf(b), startOf(b) + IDENTITY, count)
  const tryAt = (row: number) => wordsOf(row)[startOf(row) + IDENTITY + PLAY_WORDS - 1] as number
  const failedAt = (row: number) => OUTCOMES[wordsOf(row)[startOf(row) + FIRST_WORD] as number]?.kind === 'failed'

  return {
    get size() {
      return size
    },
    add(identity: EpisodeIdentity, row: EpisodeRow): boolean {
      const slot = findSlot(identity, 0)
      if (slots[slot]) return false
      if (size % BLOCK_ROWS === 0) {
        const words = new Uint32Array(BLOCK_ROWS * ROW_WORDS)
        blocks.push({ words, floats: new Float64Array(words.buffer) })
      }
      const [words, floats, start] = [wordsOf(size), floatsOf(size), startOf(size)]
      for (let i = 0; i < FLOATS.length; i++) floats[start / 2 + i] = row[FLOATS[i] as (typeof FLOATS)[number]]
      for (let i = 0; i < IDENTITY_WORDS; i++) words[start + IDENTITY + i] = identity[i] as number
      for (let i = 0; i < WORDS.length; i++) words[start + FIRST_WORD + i] = row[WORDS[i] as (typeof WORDS)[number]]
      slots[slot] = ++size
      if (size > slots.length * 0.75) grow()
      return true
    },
    /** The row that counts of each episode, in the order of keys, with its task's number: equal tasks are adjacent. */
    *episodes() {
      const order = Uint32Array.from({ length: size }, (_, row) => row).sort(
        (a, b) =>
          compareRows(a, b, KEY_WORDS) ||
          compareTries(failedAt(a), tryAt(a), failedAt(b), tryAt(b)) ||
          compareRows(a, b, IDENTITY_WORDS),
      )
      let task = -1
      let previous = -1
      for (let start = 0; start < size; ) {
        const row = order[start] as number
        let end = start + 1
        while (end < size && compareRows(row, order[end] as number, KEY_WORDS) === 0) end += 1
        const lines = order.subarray(start, end)
        start = end
        if (previous < 0 || compareRows(previous, row, TASK_WORDS) !== 0) task += 1
        previous = row
        const tries = new Set(Array.from(lines, tryAt)).size
        const first = lines.reduce((one, other) => (tryAt(other) < tryAt(one) ? other : one), row)
        yield { ...read(row), task, tries, first: read(first), conflicts: lines.length - tries }
      }
    },
  }
}

function startOf(row: number): number {
  return (row % BLOCK_ROWS) * ROW_WORDS
}
