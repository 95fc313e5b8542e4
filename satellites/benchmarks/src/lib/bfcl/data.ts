import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCall, readConstant, readLiteral } from '../python/expression.ts'
import { entriesOf, type PythonValue } from '../python/value.ts'
import type { Fields, Sources } from './api.ts'

/** The categories of the original whose tasks are conversations of several turns. */
export type Category = 'base' | 'miss_func' | 'miss_param' | 'long_context'

export interface FunctionDocument {
  readonly className: string
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
  readonly properties?: Readonly<Record<string, Described>>
  readonly items?: Described
}

export type Library = ReturnType<typeof openLibrary>
export type BfclTask = ReturnType<Library['tasks']>[number]

const FILES: Readonly<Record<string, string>> = {
  ...{ GorillaFileSystem: 'gorilla_file_system', MathAPI: 'math_api', MessageAPI: 'message_api' },
  ...{ TwitterAPI: 'posting_api', TicketAPI: 'ticket_api', TradingBot: 'trading_bot' },
  ...{ TravelAPI: 'travel_booking', VehicleControlAPI: 'vehicle_control' },
}

/** Opens the files of the original, laid out as `bfcl.suite.jsonl` says. Rules read no files. */
export function openLibrary(folder: string) {
  const text = (path: string) => readFileSync(join(folder, path), 'utf8')
  const lines = (path: string) => text(path).split('\n').filter(Boolean)
  const classes = Object.entries(FILES)

  const documents = classes.flatMap(([className, file]) =>
    lines(`documents/${file}.jsonl`).map((line): FunctionDocument => ({ className, ...JSON.parse(line) })),
  )
  const long = constantsOf(text('sources/long_context.py'))
  const sources = new Map(classes.map(([className, file]) => [className, sourcesOf(text(`sources/${file}.py`))]))
  const offer = readConstant(text('prompts.py'), 'DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC') as string

  return {
    functions: new Map(documents.map((document) => [document.name, document])),
    sources: (className: string, isLong: boolean) =>
      ({ ...sources.get(className), isLong, long: (name) => (isLong ? long(name) : undefined) }) as Sources,
    /** What is added to the description of every function. */
    hint: readLiteral(/return (" Note .* Python 3 .*")/.exec(text('utils.py'))?.[1] ?? '') as string,
    tasks(category: Category) {
      const answers = lines(`answers/${category}.jsonl`)
      return lines(`tasks/${category}.jsonl`).map((line, index) => {
        const task = readLiteral(line) as unknown as WrittenTask
        const { ground_truth } = readLiteral(answers[index] as string) as { ground_truth: string[][] }
        const missed = new Map(entriesOf(task.missed_function ?? {}) as unknown as [string, string[]][])
        const turns = task.question.map(([message], turn) => ({
          user: message?.content ?? offer,
          golden: (ground_truth[turn] ?? []).map(readCall),
          /** Functions of `miss_func` that are offered from this turn on. */
          offers: missed.get(String(turn)) ?? [],
        }))
        const { id, involved_classes: classes, initial_config: scenarios } = task
        return { id, classes, scenarios, isLong: category === 'long_context', turns }
      })
    },
  }
}

interface WrittenTask {
  readonly id: string
  readonly involved_classes: readonly string[]
  readonly initial_config: Readonly<Record<string, Fields>>
  readonly question: readonly (readonly { readonly content: string }[])[]
  readonly missed_function?: object
}

function sourcesOf(source: string) {
  return {
    constant: constantsOf(source),
    after: (before: string) => readLiteral(source, source.indexOf(before) + before.length),
    groups: (pattern: RegExp) => [...source.matchAll(pattern)].map((found) => found.slice(1)),
  }
}

function constantsOf(source: string): (name: string) => PythonValue {
  const known = new Map<string, PythonValue>()
  return (name) => {
    const value = known.get(name) ?? readConstant(source, name)
    known.set(name, value)
    return value
  }
}
