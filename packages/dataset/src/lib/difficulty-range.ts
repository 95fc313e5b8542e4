import { DatasetError } from './dataset-error.ts'

/** Difficulties from the first to the second, both included; from 0 (easiest) to 1. */
export type DifficultyRange = readonly [low: number, high: number]

/** Throws `options-invalid` unless the range lies in 0 to 1 and is the right way round. */
export function assertRange([low, high]: DifficultyRange, owner: string): void {
  if (!(low >= 0 && low <= high && high <= 1))
    throw new DatasetError(
      'options-invalid',
      `${owner}: a difficulty range goes from low to high within 0 to 1; got ${low} to ${high}.`,
    )
}

export function isInRange(difficulty: number, [low, high]: DifficultyRange): boolean {
  return low <= difficulty && difficulty <= high
}
