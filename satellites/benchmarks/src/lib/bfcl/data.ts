import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PythonCall, readCall, readConstant, readLiteral } from '../python/expression.ts'
import { entriesOf, type PythonValue } from '../python/value.ts'
import type { Sources } from './api.ts'

/** The categories of the original whose tasks are conversations of several turns. */
export const CATEGORIES = ['base', 'miss_func', 'miss_param', 'long_context'] as const
export type Category = (typeof CATEGORIES)[number]

/** A function as its document describes it. */
export interface FunctionDocument {
  readonly name: string
  readonly description: string
  readonly parameters: {
    readonly properties: Readonly<Record<string, Described>>
    readonly required: readonly string[]
  }
}

export interface Described {
  readonly type: string
  readonly description?: string
  readonly [key: string]: unknown
}

export interface BfclTask {
  readonly id: string
  readonly classes: readonly string[]
  readonly scenarios: Readonly<Record<string, PythonValue>>
  readonly isLong: boolean
  /**
   * What the user says in each turn, and the calls that are right then; of miss_func, also what it offers from then on.
   */
  readonly turns: readonly {
    readonly user: string
    readonly golden: readonly PythonCall[]
    readonly offers: readonly string[]
  }[]
}

/** The files of the original. */
export interface Library {
  tasks(category: Category): readonly BfclTask[]
  /** Documents of the functions of a class, by their names. */
  functions(className: string): ReadonlyMap<string, FunctionDocument>
  sources(className: string): Omit<Sources, 'isLong'>
  /** What is added to the description of every function. */
  readonly hint: string
}

/** The name of a class's files. */
const FILES: Readonly<Record<string, string>> = {
  ...{ GorillaFileSystem: 'gorilla_file_system', MathAPI: 'math_api', MessageAPI: 'message_api' },
  ...{ TwitterAPI: 'posting_api', TicketAPI: 'ticket_api', TradingBot: 'trading_bot' },
  ...{ TravelAPI: 'travel_booking', VehicleControlAPI: 'vehicle_control' },
}

export const CLASS_NAMES: readonly string[] = Object.keys(FILES)

/** Opens the files of the original, laid out as `bfcl.suite.jsonl` says. */
export function openLibrary(folder: string): Library {
  const text = once((path: string) => readFileSync(join(folder, path), 'utf8'))
  // Rules read no files.
  for (const name of Object.values(FILES))
    for (const path of [`sources/${name}.py`, `documents/${name}.jsonl`]) text(path)
  for (const path of ['sources/long_context.py', 'prompts.py', 'utils.py']) text(path)
  const lines = (path: string) => text(path).split('\n').filter(Boolean)

  const functions = once((className: string) => {
    const documents = lines(`documents/${FILES[className]}.jsonl`).map((line) => JSON.parse(line) as FunctionDocument)
    return new Map(documents.map((document) => [document.name, document]))
  })

  const sources = once((className: string) => {
    const source = text(`sources/${FILES[className]}.py`)
    const constant = once((name: string) => readConstant(source, name))
    const after = once((before: string) => readLiteral(source, source.indexOf(before) + before.length))
    const long = once((name: string) => readConstant(text('sources/long_context.py'), name))
    const groups = once((pattern: string) =>
      [...source.matchAll(new RegExp(pattern, 'g'))].map((found) => found.slice(1)),
    )
    return { constant, after, long, groups: ({ source: pattern }: RegExp) => groups(pattern) } as Omit<
      Sources,
      'isLong'
    >
  })

  const tasks = once((category: Category) => {
    const offer = readConstant(text('prompts.py'), 'DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC') as string
    const answers = lines(`answers/${category}.jsonl`)
    return lines(`tasks/${category}.jsonl`).map((line, index) => {
      const task = readLiteral(line) as unknown as WrittenTask
      const { ground_truth } = readLiteral(answers[index] as string) as { ground_truth: string[][] }
      const missed = new Map(entriesOf(task.missed_function ?? {}) as unknown as [string, string[]][])
      const turns = task.question.map(([message], turn) => ({
        user: message?.content ?? offer,
        golden: (ground_truth[turn] ?? []).map(readCall),
        offers: missed.get(String(turn)) ?? [],
      }))
      const { id, involved_classes: classes, initial_config: scenarios } = task
      return { id, classes, scenarios, isLong: category === 'long_context', turns }
    })
  })

  const hint = readLiteral(/return (" Note .* Python 3 .*")/.exec(text('utils.py'))?.[1] ?? '') as string
  return { tasks, functions, sources, hint }
}

interface WrittenTask {
  readonly id: string
  readonly involved_classes: readonly string[]
  readonly initial_config: BfclTask['scenarios']
  readonly question: readonly (readonly { readonly content: string }[])[]
  readonly missed_function?: object
}

/** Returns a function that computes a value for each key once. */
function once<Key extends string, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    if (!known.has(key)) known.set(key, compute(key))
    return known.get(key) as Value
  }
}
