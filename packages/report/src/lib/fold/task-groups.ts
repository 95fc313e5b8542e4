import type { Split } from '@episodic/protocol'

/** Difficulty ranges from 0 to 1 and is reported in tenths. */
export const DIFFICULTY_BINS = 10

export function difficultyBinOf(difficulty: number): number {
  return Math.max(0, Math.min(DIFFICULTY_BINS - 1, Math.floor(difficulty * DIFFICULTY_BINS)))
}

export const SPLITS: readonly Split[] = ['train', 'validation', 'test']
