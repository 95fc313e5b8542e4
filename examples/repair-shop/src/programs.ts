import { readdirSync, readFileSync } from 'node:fs'
import type { CallTest } from '@episodic/workspace'

/** A correct program. */
export interface Program {
  readonly name: string
  /** The texts of its modules, by name. */
  readonly modules: Readonly<Record<string, string>>
  readonly readme: string
  /** The texts of its tests, by the name of the module that each is about. */
  readonly tests: Readonly<Record<string, string>>
  /** Hidden calls, and what they have to do: what the correct program does. */
  readonly calls: readonly CallTest[]
}

/** Hidden calls of each program. */
export const CALLS = 16

const FOLDER = new URL('../programs/', import.meta.url)

/** What tests use to compare. */
export const CHECK = read('check.js')

/** The correct programs. */
export const PROGRAMS: readonly Program[] = await Promise.all(
  ['calculator', 'calendar', 'ledger', 'scheduler', 'table'].map(readProgram),
)

async function readProgram(name: string): Promise<Program> {
  const correct: Record<string, (...args: unknown[]) => unknown> = await import(
    new URL(`${name}/src/index.js`, FOLDER).href
  )
  const calls = (JSON.parse(read(`${name}/calls.json`)) as [string, unknown[]][]).map(([call, args]) => ({
    call,
    args,
    ...outcomeOf(() => correct[call]?.(...args)),
  }))
  return {
    name,
    modules: readAll(`${name}/src/`, '.js'),
    readme: read(`${name}/README.md`),
    tests: readAll(`${name}/test/`, '.js'),
    calls,
  }
}

function outcomeOf(call: () => unknown): Pick<CallTest, 'returns' | 'throws'> {
  try {
    return { returns: call() }
  } catch (error) {
    return { throws: (error as Error).message }
  }
}

function readAll(folder: string, ending: string): Record<string, string> {
  const names = readdirSync(new URL(folder, FOLDER)).filter((file) => file.endsWith(ending))
  return Object.fromEntries(names.sort().map((file) => [file.slice(0, -ending.length), read(`${folder}${file}`)]))
}

function read(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8')
}
