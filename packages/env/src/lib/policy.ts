import type { Action, Completion, JsonObject, Observation, Step, ToolInfo } from '@episodic/protocol'

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

/** A way to act. `begin` makes a fresh player for each episode, so that nothing is carried from one into another. */
export interface Policy {
  readonly name: string
  begin(context: PolicyContext): Player | Promise<Player>
  /**
   * Makes a player that goes on from the midst of an episode which others played so far, as in a fork: players cannot be
   * copied. Left out, a player from `begin` is asked for an action at each earlier step, and its answers are not played.
   * That suits one that learns from what it is told; one that remembers what it answered, or whose answers are dear,
   * needs this.
   */
  resume?(context: PolicyContext, earlier: readonly EarlierStep[]): Player | Promise<Player>
}

/** Describes a policy. */
export function definePolicy(policy: Policy): Policy {
  return policy
}
