import { createDisk, type Disk, judgeCalls } from '@episodic/workspace'
import { filesOf } from './files.ts'
import type { Program } from './programs.ts'

/** How many of the hidden calls of a program are answered rightly. */
export interface Verdict {
  /** By the program as the player has left it. */
  readonly passed: number
  /** By the program as it was brought in. */
  readonly before: number
}

/** Judges the program on a disk, and the one that was brought in. */
export async function runHiddenTests(
  disk: Disk,
  { program, modules }: { readonly program: Program; readonly modules: Readonly<Record<string, string>> },
  signal = new AbortController().signal,
): Promise<Verdict> {
  const call = (disk: Disk) => judgeCalls(disk, { module: '/app/src/index.js', tests: program.calls, signal })
  const [left, brought] = await Promise.all([call(disk), call(createDisk(filesOf('/app/src', modules)))])
  return { passed: left.passed, before: brought.passed }
}
