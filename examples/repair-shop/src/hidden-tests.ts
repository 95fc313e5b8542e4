import { createDisk, type Disk, runCommand } from '@episodic/workspace'
import { filesOf } from './files.ts'
import type { Program } from './programs.ts'

/** How many of the hidden calls of a program are answered rightly. */
export interface Verdict {
  /** By the program as the player has left it. */
  readonly passed: number
  /** By the program as it was brought in. */
  readonly before: number
}

/**
 * Calls the program as it was brought in, and then the one that is judged. It prints what they answer, and knows no
 * right answer, so that code of the player finds none when it runs.
 */
const DRIVER = `import { readFileSync } from 'node:fs'

async function answers(path) {
  const calls = JSON.parse(readFileSync('/judge/calls.json', 'utf8'))
  try {
    const program = await import(path)
    return calls.map(([name, args]) => {
      try {
        return { value: program[name](...args) }
      } catch (error) {
        return { error: error.message }
      }
    })
  } catch {
    return []
  }
}

console.log(JSON.stringify(await answers('/judge/before/src/index.js')))
console.log(JSON.stringify(await answers('/app/src/index.js')))
`

/** Judges the program on a disk. What is run is seen by no command of the player. */
export async function runHiddenTests(
  disk: Disk,
  { program, modules }: { readonly program: Program; readonly modules: Readonly<Record<string, string>> },
  signal?: AbortSignal,
): Promise<Verdict> {
  const files = createDisk({
    '/judge/run.js': DRIVER,
    '/judge/calls.json': JSON.stringify(program.calls.map(({ name, args }) => [name, args])),
    ...filesOf('/judge/before/src', modules),
  })
  const { stdout } = await runCommand(disk, 'node /judge/run.js', {
    files,
    languages: ['javascript'],
    ...(signal && { signal }),
  })
  // The player's program may print, too.
  const lines = stdout.trimEnd().split('\n')
  return { passed: passes(program, lines.at(-1)), before: passes(program, lines[0]) }
}

function passes({ calls }: Program, line = ''): number {
  const answers = answersIn(line)
  return calls.filter(({ wanted }, i) => JSON.stringify(answers[i]) === wanted).length
}

function answersIn(line: string): readonly unknown[] {
  try {
    const answers: unknown = JSON.parse(line)
    return Array.isArray(answers) ? answers : []
  } catch {
    return []
  }
}
