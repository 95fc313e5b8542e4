import type { Action, Completion, JsonObject, LegalActions, Observation, Step, ToolInfo } from '@episodic/protocol'

/** What a policy is told before it plays. The world's own seed is not among it. */
export interface PolicyContext {
  readonly task: { readonly prompt: string; readonly hints: readonly string[]; readonly params: JsonObject }
  readonly tools: readonly ToolInfo[]
  /** The policy's own chance: the same seed plays the same game. */
  readonly seed: string
}

/** What a player sees before it acts. */
export interface PlayerView {
  /** The step before; `null` at the start. */
  readonly last: Step | null
  /** Asks which actions the world's rules accept now, see `Environment.legal`. Left out where the world does not say. */
  readonly legal?: (() => Promise<LegalActions>) | undefined
  readonly signal?: AbortSignal | undefined
  /** To be told of each answer of a language model on the way to the action, whether one comes of it or not. */
  readonly onCompletion?: ((completion: Completion) => void) | undefined
}

/** Plays one episode: one action for each observation. */
export type Player = (observation: Observation, view: PlayerView) => Action | Promise<Action>

/** A step that was played before a player took over: what was seen, what was done, and what came of it. */
export interface EarlierStep {
  readonly observation: Observation
  readonly action: Action
  readonly step: Step
}

/** A way to act. `start` makes a fresh player for each episode, so that nothing is carried from one into another. */
export interface Policy {
  readonly name: string
  start(context: PolicyContext): Player | Promise<Player>
  /**
   * Makes a player that goes on from the midst of an episode which others played so far, as in a fork: players cannot be
   * copied. Left out, a player from `start` is asked for an action at each earlier step, and its answers are not played.
   * That suits one that learns from what it is told; one that remembers what it answered, or whose answers are dear,
   * needs this.
   */
  resume?(context: PolicyContext, earlier: readonly EarlierStep[]): Player | Promise<Player>
}

/**
 * An action as its author writes it: an argument may be `undefined`. Where branches return different arguments, the
 * compiler gives each branch the keys of the others in this way.
 */
export interface WrittenAction {
  readonly tool: string
  readonly arguments: WrittenArguments
}

export interface WrittenArguments {
  readonly [name: string]: WrittenArgument | undefined
}

export type WrittenArgument = string | number | boolean | null | readonly WrittenArgument[] | WrittenArguments

/** A {@link Player} as its author writes it. */
export type WrittenPlayer = (observation: Observation, view: PlayerView) => WrittenAction | Promise<WrittenAction>

/** A {@link Policy} as its author writes it. */
export interface PolicyDefinition {
  readonly name: string
  start(context: PolicyContext): WrittenPlayer | Promise<WrittenPlayer>
  resume?(context: PolicyContext, earlier: readonly EarlierStep[]): WrittenPlayer | Promise<WrittenPlayer>
}

/** Describes a policy. Arguments that its player gives as `undefined` are left out of the action. */
export function definePolicy(definition: PolicyDefinition): Policy {
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

function playerOf(written: WrittenPlayer): Player {
  return (observation, view) => afterwards(written(observation, view), actionOf)
}

function actionOf(written: WrittenAction): Action {
  return holdsUndefined(written) ? (withoutUndefined(written) as unknown as Action) : (written as Action)
}

/** Goes on with what a function gave, at once where it gave it at once. */
function afterwards<T, U>(value: T | Promise<T>, next: (value: T) => U): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

function holdsUndefined(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((item) => item === undefined || holdsUndefined(item))
}

/** A copy in which lists and plain objects lack what is `undefined`. What is neither is refused later, as it is. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutUndefined(item)]))
}
