import type { Split } from '@episodic/protocol'

/** Splits in the order that a report names them. */
export const SPLITS: readonly Split[] = ['train', 'validation', 'test']

/** Difficulty runs from 0 to 1, and a report tells tenths apart. */
export const DIFFICULTY_BINS = 10

/** The tenth that a difficulty falls in; 1 is in the last. */
export function difficultyBinOf(difficulty: number): number {
  return Math.max(0, Math.min(DIFFICULTY_BINS - 1, Math.floor(difficulty * DIFFICULTY_BINS)))
}
