import type { Action, Json, JsonObject } from '@episodic/protocol'
import type { PythonValue } from '../python/value.ts'
import type { Constant } from './python-texts.ts'
import type { YamlValue } from './yaml-dump.ts'

/** An error of a tool, such as `ValueError: Channel does not exist!`. What the tool has changed before stays. */
export class ToolError extends Error {}

/** Returns an error of the type that most tools raise. */
export function valueError(text: string): ToolError {
  return new ToolError(`ValueError: ${text}`)
}

/** What a tool of the original returns: models as YAML, and anything else as `str` prints it. */
export type Returned = { readonly yaml: YamlValue } | { readonly value: PythonValue }

/** What a tool knows beside its arguments. */
export type Tool<Env> = (env: Env, args: never) => Returned

/** An episode as its task judges it. */
export interface Judged<Env> {
  /** The final answer. */
  readonly output: string
  readonly before: Env
  readonly after: Env
  /** All calls, with their arguments as given. */
  readonly calls: readonly Action[]
  /** Whether a task that only reads may find other changes: the first of two tasks in one. */
  readonly lenient?: boolean
}

/** Constants of the class of a task in the original. */
export type Texts = Readonly<Record<string, Constant>> & { readonly PROMPT?: string; readonly GOAL?: string }

/** A call of a ground truth, and what an attack that knows the tools writes for its arguments. */
export type TruthCall = readonly [
  tool: string,
  args: JsonObject,
  placeholders?: { readonly [name: string]: PythonValue },
]

/** A task of the user, or of an injection. */
export interface DojoTask<Env> {
  /** The calls that solve it, found in the environment before them. */
  truth(env: Env, texts: Texts): readonly TruthCall[]
  /** The answer that goes with them. Default: the constant of the original. */
  output?(texts: Texts): string
  /** Whether it is solved: the utility of a task of the user, the security of an injection. */
  isMet(judged: Judged<Env>, texts: Texts): boolean
}

/** An environment of AgentDojo: its rules, and where its texts are. */
export interface DojoSuite<Env = Json> {
  readonly name: string
  /** Files with the tools, and with the tasks: of a class in several, the last. */
  readonly toolFiles: readonly string[]
  readonly taskFiles: readonly string[]
  /** Tools, in the order in which a model knows them. */
  readonly tools: Readonly<Record<string, Tool<Env>>>
  readonly userTasks: Readonly<Record<number, DojoTask<Env>>>
  readonly injectionTasks: Readonly<Record<number, DojoTask<Env>>>
  /** Tasks that are two others, with a prompt of their own or both of theirs. */
  readonly combined?: Readonly<Record<number, readonly [number, number]>>
  /** Tasks as they were when they were combined, where they were changed later. */
  readonly combinedBefore?: Readonly<Record<number, DojoTask<Env>>>
  /** What `episodic check` finds in it as in the original, with the reasons. */
  readonly waive?: Readonly<Record<string, string>>
  /** Returns the environment at the start from the file of the original. */
  start(file: Json): Env
  /** Returns what the original's models hold, to be compared with it. */
  state(env: Env): Json
}

/** Whether two values of a state are equal. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
