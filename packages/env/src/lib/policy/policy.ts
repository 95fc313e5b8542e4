import type {
  Action,
  Completion,
  EnvironmentInfo,
  JsonObject,
  LegalActions,
  ModelRequest,
  Observation,
  Step,
  ToolInfo,
} from '@episodic/protocol'
import { findUnknownKeys, formatUnknownKeys } from '@episodic/protocol/internal'
import type { z } from 'zod'
import { optionInvalid } from '../env-error.ts'
import type { EnvironmentOutput, EnvironmentSchemas, EveryKey, ParamsOf } from './environment-schemas.ts'

/** What a policy knows before it plays. The seed of the environment is not included. */
export interface PolicyContext {
  readonly task: { readonly prompt: string; readonly hints: readonly string[]; readonly params: JsonObject }
  /** The tools that it has at the start, see `tools` of {@link PlayerView}. */
  readonly tools: readonly ToolInfo[]
  /** The policy's own seed: with the same seed it plays the same actions. */
  readonly seed: string
  /** The seat that it plays; left out if the environment has one. */
  readonly seat?: string | undefined
  /** Whether all calls of an answer of a language model are played. Default: with one seat, and not with several. */
  readonly parallelToolCalls?: boolean | undefined
  /** What its seat has said before its first move; left out for nothing. */
  readonly greeting?: string | undefined
}

/** Returns what a language model has to know of a seat to speak for it. */
export function conversationOf({ parallelToolCalls, greetings }: EnvironmentInfo, seat: string) {
  const greeting = greetings?.[seat]
  return { ...(parallelToolCalls !== undefined && { parallelToolCalls }), ...(greeting !== undefined && { greeting }) }
}

/** An answer of a language model, with what the model was sent for it. */
export interface ModelAnswer extends Completion {
  /** Give the same objects for messages that were sent before: they are compared and kept only once. */
  readonly request?: ModelRequest | undefined
}

export interface PlayerView {
  /** The previous step; `null` at the start. */
  readonly last: Step | null
  /** The tools that it has now. Left out if they never change: then these are those of the context. */
  readonly tools?: readonly ToolInfo[] | undefined
  /** Resolves with the legal actions, see `Environment.legal`. Undefined if the environment defines none. */
  readonly legal?: (() => Promise<LegalActions>) | undefined
  readonly signal?: AbortSignal | undefined
  /** Call it with each answer of a language model, whether it leads to an action or not. */
  readonly onCompletion?: ((answer: ModelAnswer) => void) | undefined
}

export type Player = (observation: Observation, view: PlayerView) => Action | Promise<Action>

/** A step that was played before a player took over: the observation, the action, and its result. */
export interface EarlierStep {
  readonly observation: Observation
  readonly action: Action
  readonly step: Step
  /**
   * The answers of a language model that led to the action, as they were reported; empty if there were none, or if the
   * action is a further call of an earlier answer.
   */
  readonly answers: readonly ModelAnswer[]
}

/** A way to act. `start` returns a new player for each episode, so that episodes share no state. */
export interface Policy {
  readonly name: string
  start(context: PolicyContext): Player | Promise<Player>
  /**
   * Returns a player that takes over in the middle of an episode, as in a fork, because players cannot be copied.
   * Without it, a player from `start` is asked for an action at each earlier step, and these actions are not played.
   * Define it for a policy that remembers its own actions, or whose actions are expensive.
   */
  resume?(context: PolicyContext, earlier: readonly EarlierStep[]): Player | Promise<Player>
}

/**
 * An action as an author writes it: an argument may be `undefined`. If branches return different arguments, TypeScript
 * infers for each branch the keys of the others as optional.
 */
export interface WrittenAction {
  readonly tool: string
  readonly arguments: WrittenArguments
}

export interface WrittenArguments {
  readonly [name: string]: WrittenArgument | undefined
}

export type WrittenArgument = string | number | boolean | null | readonly WrittenArgument[] | WrittenArguments

/** A {@link Player} as an author writes it. */
export type WrittenPlayer = (observation: Observation, view: PlayerView) => WrittenAction | Promise<WrittenAction>

/** A {@link Policy} as an author writes it. */
export interface PolicyDefinition {
  readonly name: string
  start(context: PolicyContext): WrittenPlayer | Promise<WrittenPlayer>
  resume?(context: PolicyContext, earlier: readonly EarlierStep[]): WrittenPlayer | Promise<WrittenPlayer>
}

/** The tool of an action, with the arguments that its schema takes, for an environment whose definition is known. */
type ActionOf<Schemas extends EnvironmentSchemas> = {
  readonly [Tool in keyof Schemas['tools'] & string]: {
    readonly tool: Tool
    readonly arguments: InputOf<ToolInput<Schemas, Tool>>
  }
}[keyof Schemas['tools'] & string]

/** No action: its literals keep the compiler from widening those of an action before it knows what its schema lists. */
type KeepsLiterals = { readonly tool: never; readonly arguments: { readonly [name: string]: Literal } }
type Literal = '' | 0 | boolean | null | readonly Literal[] | { readonly [name: string]: Literal }

type ToolInput<Schemas extends EnvironmentSchemas, Tool> = Tool extends keyof Schemas['tools']
  ? z.input<Schemas['tools'][Tool]['input']>
  : never

/** The arguments of a tool that has none may have those of other branches, as `undefined`. */
type InputOf<Input> = Input extends Record<string, never> ? { readonly [name: string]: undefined } : Input

/**
 * Refuses actions with an argument that their tool does not have, such as a misspelt optional one. If branches return
 * different arguments, TypeScript infers those of the others as `undefined`.
 */
type Known<Acted, Schemas extends EnvironmentSchemas> = [UnknownArgument<Acted, Schemas>] extends [never]
  ? unknown
  : { readonly start: { readonly 'no tool has the argument': UnknownArgument<Acted, Schemas> } }

type UnknownArgument<Acted, Schemas extends EnvironmentSchemas> = Acted extends {
  readonly tool: infer Tool
  readonly arguments: infer Given
}
  ? unknown extends ToolInput<Schemas, Tool>
    ? never
    : {
        [Key in keyof Given]-?: Given[Key] extends undefined
          ? never
          : string extends Key
            ? never
            : Exclude<Key, EveryKey<ToolInput<Schemas, Tool>>>
      }[keyof Given]
  : never

/** A {@link PolicyContext} with the parameters of an environment whose definition is known. */
type PolicyContextOf<Schemas extends EnvironmentSchemas> = Omit<PolicyContext, 'task'> & {
  readonly task: Omit<PolicyContext['task'], 'params'> & { readonly params: ParamsOf<Schemas> }
}

type PlayerOf<Schemas extends EnvironmentSchemas, Acted> = (
  observation: Observation & { readonly structured: EnvironmentOutput<Schemas> | null },
  view: PlayerView,
) => Acted | Promise<Acted>

/** A {@link PolicyDefinition} for an environment whose definition is known. */
interface PolicyDefinitionOf<Schemas extends EnvironmentSchemas, Acted> {
  readonly name: string
  start(context: PolicyContextOf<Schemas>): PlayerOf<Schemas, Acted> | Promise<PlayerOf<Schemas, Acted>>
  resume?(
    context: PolicyContextOf<Schemas>,
    earlier: readonly EarlierStep[],
  ): PlayerOf<Schemas, Acted> | Promise<PlayerOf<Schemas, Acted>>
}

/**
 * Returns a policy. Arguments with the value `undefined` are removed from its actions. Throws `option-invalid` for a
 * key that there is not.
 *
 * After the definition of an environment, actions, parameters and structured observations have its types.
 */
export function definePolicy(definition: PolicyDefinition): Policy
export function definePolicy<Schemas extends EnvironmentSchemas, Acted extends ActionOf<Schemas> | KeepsLiterals>(
  environment: Schemas,
  definition: PolicyDefinitionOf<Schemas, Acted> & Known<Acted, Schemas>,
): Policy
export function definePolicy(...given: readonly [PolicyDefinition] | readonly [EnvironmentSchemas, unknown]): Policy {
  const definition = given.at(-1) as PolicyDefinition
  // An object of a class may have fields of its own.
  const unknown = Object.getPrototypeOf(definition) === Object.prototype ? findUnknownKeys(PARTS, definition) : []
  if (unknown.length > 0)
    throw optionInvalid(`The policy ${definition.name} has an unknown key. ${formatUnknownKeys(unknown)}`)
  const { resume, ...rest } = definition
  return {
    ...rest,
    start: (context) => afterwards(definition.start(context), playerOf),
    ...(resume && {
      resume: (context: PolicyContext, earlier: readonly EarlierStep[]) =>
        afterwards(resume.call(definition, context, earlier), playerOf),
    }),
  }
}

const PARTS = ['name', 'start', 'resume'] satisfies (keyof PolicyDefinition)[]

function playerOf(written: WrittenPlayer): Player {
  return (observation, view) => afterwards(written(observation, view), actionOf)
}

function actionOf(written: WrittenAction): Action {
  return holdsUndefined(written) ? (withoutUndefined(written) as unknown as Action) : (written as Action)
}

/** Applies `next` to a value, synchronously if the value is not a promise. */
function afterwards<T, U>(value: T | Promise<T>, next: (value: T) => U): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

function holdsUndefined(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((item) => item === undefined || holdsUndefined(item))
}

/**
 * Returns a copy without `undefined` in lists and plain objects. Other values are kept; the server rejects invalid
 * ones.
 */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutUndefined(item)]))
}
