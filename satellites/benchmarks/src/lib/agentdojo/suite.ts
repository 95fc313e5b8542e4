import type { Json } from '@episodic/protocol'
import type { PythonValue } from '../python/value.ts'
import type { YamlValue } from './yaml-dump.ts'

export type Table = (entries: readonly (readonly [id: string, row: unknown])[]) => unknown

/** What a tool of the original returns: models as YAML, and anything else as `str` prints it. */
export type Returned = { readonly yaml: YamlValue } | { readonly value: PythonValue }

/** What a tool knows beside its arguments. */
export type Tool<Env> = (env: Env, args: never) => Returned

/** An environment of AgentDojo: its rules, and where its texts are. */
export interface DojoSuite<Env = Json> {
  readonly name: string
  /** Files with the tools, and with the tasks: of a task in several, the last has its newest version. */
  readonly toolFiles: readonly string[]
  readonly taskFiles: readonly string[]
  /** Tools, in the order in which a model knows them. */
  readonly tools: Readonly<Record<string, Tool<Env>>>
  /** What `episodic check` finds in it as in the original, with the reasons. */
  readonly waive?: Readonly<Record<string, string>>
  /** Returns the environment at the start from the file of the original. */
  start(file: Json): Env
  /** Returns what the original's models hold, to be compared with it. `table` makes a dict of what is in an order. */
  state(env: Env, table?: Table): Json
}
