import { optionsInvalid } from './dataset-error.ts'

/** A range of difficulties, both ends included, within 0 (easiest) to 1. */
export type DifficultyRange = readonly [low: number, high: number]

export function assertRange([low, high]: DifficultyRange, owner: string): void {
  if (!(low >= 0 && low <= high && high <= 1))
    throw optionsInvalid(`${owner}: a difficulty range goes from low to high within 0 to 1; got ${low} to ${high}.`)
}

export function isInRange(difficulty: number, [low, high]: DifficultyRange): boolean {
  return low <= difficulty && difficulty <= high
}
