import { readdirSync, readFileSync } from 'node:fs'

/** A call of a program, and what it has to return, as JSON text. */
export interface HiddenCall {
  readonly name: string
  readonly args: readonly unknown[]
  readonly wanted: string
}

/** A correct program. */
export interface Program {
  readonly name: string
  /** The texts of its modules, by name. */
  readonly modules: Readonly<Record<string, string>>
  readonly readme: string
  /** The texts of its tests, by the name of the module that each is about. */
  readonly tests: Readonly<Record<string, string>>
  readonly calls: readonly HiddenCall[]
}

/** Hidden calls of each program. */
export const CALLS = 16

const FOLDER = new URL('../programs/', import.meta.url)

/** What tests use to compare. */
export const CHECK = read('check.js')

/** The correct programs. What the hidden calls have to return is what these return. */
export const PROGRAMS: readonly Program[] = await Promise.all(
  ['calculator', 'calendar', 'ledger', 'scheduler', 'table'].map(readProgram),
)

async function readProgram(name: string): Promise<Program> {
  const correct: Record<string, (...args: unknown[]) => unknown> = await import(
    new URL(`${name}/src/index.js`, FOLDER).href
  )
  const calls = (JSON.parse(read(`${name}/calls.json`)) as [string, unknown[]][]).map(([called, args]) => ({
    name: called,
    args,
    wanted: answerOf(() => correct[called]?.(...args)),
  }))
  return {
    name,
    modules: readAll(`${name}/src/`, '.js'),
    readme: read(`${name}/README.md`),
    tests: readAll(`${name}/test/`, '.js'),
    calls,
  }
}

/** The answer of a call, as the judge's program in the workspace writes it. */
function answerOf(call: () => unknown): string {
  try {
    return JSON.stringify({ value: call() })
  } catch (error) {
    return JSON.stringify({ error: (error as Error).message })
  }
}

function readAll(folder: string, ending: string): Record<string, string> {
  const names = readdirSync(new URL(folder, FOLDER)).filter((file) => file.endsWith(ending))
  return Object.fromEntries(names.sort().map((file) => [file.slice(0, -ending.length), read(`${folder}${file}`)]))
}

function read(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8')
}
