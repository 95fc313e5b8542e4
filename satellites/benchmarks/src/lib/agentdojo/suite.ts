import type { Action, Json, JsonObject } from '@episodic/protocol'
import type { PythonValue } from '../python/value.ts'
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

export interface Judged<Env> {
  readonly output: string
  readonly before: Env
  readonly after: Env
  /** What is different at the end: see `changesBetween`. */
  readonly changes: readonly string[]
  readonly calls: readonly Action[]
  /** Whether a task that only reads may find other changes: the first of two tasks in one. */
  readonly lenient?: boolean
}

type TextName =
  | ('PROMPT' | 'GOAL' | 'GROUND_TRUTH_OUTPUT' | 'COMPANY_URL' | 'BOT_MSG' | 'BOT_MSG_TEMPLATE' | '_PHISHING_LINK')
  | ('_ATTACKER_WEB' | '_ATTACKER_USER' | '_ATTACKER_EMAIL' | '_ATTACKER_IBAN' | 'ATTACKER_IBAN' | '_BILL_RECIPIENT')
  | ('_NEW_PASSWORD' | 'NEW_PASSWORD' | '_HOTEL_NAME' | '_START_DAY' | '_END_DAY' | '_TARGET' | '_RECIPIENT' | '_EMAIL')
  | (
      | '_EMAIL_ADDRESS'
      | '_EMAIL_SUBJECT'
      | '_EMAIL_BODY'
      | '_EMAIL_2_SUBJECT'
      | '_SENDER'
      | '_SUBJECT'
      | '_BODY'
      | '_TEXT'
    )
  | (
      | '_EVENT'
      | '_EVENT_ID'
      | '_EVENT_1'
      | '_EVENT_2'
      | '_EVENT_NAME'
      | '_EVENT_TITLE'
      | '_EVENT_DESCRIPTION'
      | '_TITLE'
    )
  | ('_EVENT_DATE' | '_EVENT_START_TIME' | '_EVENT_END_TIME' | '_EVENT_LOCATION' | '_LOCATION' | '_DESCRIPTION')
  | ('_DESCRIPTION_EVENT_2' | '_DATE' | '_DATE_EVENT_1' | '_DATE_EVENT_2' | '_TIME' | '_TIME_EVENT_2' | '_START_TIME')
  | ('_END_TIME' | '_END_TIME_EVENT_2' | '_PROPOSED_TIME_2' | '_PARTICIPANT' | '_NAME' | '_CODE' | '_SECURITY_CODE')
  | ('_URL' | '_PHISHING_URL' | '_TOPIC' | '_FILENAME' | '_FILENAME_1' | '_FILENAME_2' | '_FILE_ID' | '_FILE_ID_1')
  | ('_GROCERY_LIST_FILE_ID' | '_FILE_MATCH_THRESHOLD')
type ListName =
  | ('_EMAIL_ADDRESSES' | '_TIMES' | '_PARTICIPANTS' | '_LIST' | '_NAMES' | '_SCORES' | '_DEADLINES' | '_INGREDIENTS')
  | 'FILE_IDS'

/** Constants of the class of a task in the original: it has those that its rules read. */
export type Texts = Readonly<Record<TextName, string> & Record<ListName, readonly string[]>>

/** A call of a ground truth, and what an attack that knows the tools writes for its arguments. */
export type TruthCall = readonly [
  tool: string,
  args: JsonObject,
  placeholders?: { readonly [name: string]: PythonValue },
]

export interface DojoTask<Env> {
  /** The calls that solve it, found in the environment before them. */
  truth(texts: Texts, env: Env): readonly TruthCall[]
  /** The answer that goes with them. Default: the constant of the original. */
  output?(texts: Texts): string
  /** Whether it is solved: the utility of a task of the user, the security of an injection. */
  isMet(judged: Judged<Env>, texts: Texts): boolean
}

/** Returns a task whose ground truth is the same in each environment. */
export function fixed<Env>(truth: readonly TruthCall[], isMet: DojoTask<Env>['isMet']): DojoTask<Env> {
  return { truth: () => truth, isMet }
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
  start(file: Json): Env
  /** Returns what the original's models hold, to be compared with it. */
  state(env: Env): Json
}

/** Whether two values of a state are equal. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Returns the item of a list that has no other. */
export function only<T>(all: readonly T[]): T | undefined {
  return all.length === 1 ? all[0] : undefined
}

export function has<T extends object>(one: T | undefined, fields: Partial<T>): one is T {
  return one !== undefined && Object.entries(fields).every(([key, value]) => isSame(one[key as keyof T], value))
}

/** Returns a call of an injection whose arguments an attack writes as they are. */
export function withSame([tool, args]: TruthCall): TruthCall {
  return [tool, args, args]
}
