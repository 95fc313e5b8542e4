import { existsSync } from 'node:fs'

/** Returns the folder of the next continuations of a run, or of those that are there the last one, to resume it. */
export function nextFolder(run: string, resume = false): string {
  const named = (count: number) => `${run}-continued${count === 1 ? '' : `-${count}`}`
  let count = 1
  while (existsSync(named(count))) count += 1
  return named(resume && count > 1 ? count - 1 : count)
}
