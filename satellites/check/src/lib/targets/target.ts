import type { Player, Policy } from '@episodic/env'
import type { Action, EpisodeEnd, JsonObject, Observation, Task, Terms, ToolInfo } from '@episodic/protocol'

/**
 * What a check plays from outside: tasks that can be opened, stepped and, where it can, forked. An own world, or a
 * running environment of somebody else.
 */
export interface CheckTarget extends AsyncDisposable {
  readonly name: string
  readonly version: string
  /** Whether `fork` continues a state. Otherwise it plays the same actions again, which chance may answer otherwise. */
  readonly forks: boolean
  /** Whether the rules are ours, so that nothing may differ. */
  readonly isOwn: boolean
  /** One, or those of a game. */
  readonly seats: readonly string[]
  /** At least one. */
  readonly tasks: readonly TargetTask[]
  /** Who solves the tasks: a world's solver, golden actions. `null` if nobody is known to. */
  readonly oracle: Policy | null
  /**
   * Returns ways to cheat the judge of this target that its tools know of, from the states before and after the
   * oracle's work: to be played in place of the work, before the move that hands it in. Left out if none does.
   */
  readonly cheats?: (
    start: object,
    solved: object,
  ) => readonly { readonly name: string; readonly actions: readonly Action[] }[]
  /** Starts an episode. Rejects if the task cannot be played. The caller disposes it. */
  open(task: TargetTask): Promise<Attempt>
  /** Starts an episode beside one that is open; resolves with `null` if the target has no room for a second one. */
  openBeside(task: TargetTask): Promise<Attempt | null>
}

export interface TargetTask {
  readonly id: string
  readonly prompt: string
  readonly hints: readonly string[]
  /** The prompts of seats, in place of that one, where they differ from it. */
  readonly seats?: Task['seats']
  readonly params: JsonObject
  readonly seed: string
  /** Most steps of a seat: the last one of them ends the episode. */
  readonly steps: number
}

/** An episode that goes on. Make one call at a time. */
export interface Attempt extends AsyncDisposable {
  /** The seats that may act; nobody after the end. */
  readonly turn: readonly string[]
  readonly end: EpisodeEnd | null
  /** The whole state, or what the target shows of it; `null` for nothing. Read-only. */
  readonly state: JsonObject | null
  /** All that a replay has to reproduce of the start, where the target shows more than an observation. */
  readonly start?: object
  /**
   * Returns whether the episode counts as a success if it ends here, for a seat; by default for all seats. `null` if
   * nothing says so.
   */
  succeeds(seat?: string): boolean | null
  /** Returns what a player of a seat is shown now. Default: the only seat. */
  view(seat?: string): AttemptView
  /**
   * Plays one action. Default: the first seat that is in turn. Rejects with what the rules throw, and once the episode
   * has ended.
   */
  step(action: Action, seat?: string): Promise<AttemptStep>
  /**
   * Resolves with an attempt that goes on from here and shares nothing with this one. With a seed, chance is drawn anew
   * from here on, where the target can. The caller disposes it.
   */
  fork(seed?: string): Promise<Attempt>
}

export type AttemptView = Parameters<Player>[1] & {
  readonly observation: Observation
  /** Those that are offered now. */
  readonly tools: readonly ToolInfo[]
}

export interface AttemptStep {
  /** What the seat that acted earned, each term with weight 1. */
  readonly reward: number
  readonly rewards: Readonly<Record<string, number>>
  /** Those of the seat that acted; empty where only a sum is known. */
  readonly terms: Terms
  /** Why the action was refused; `null` if it was played. */
  readonly refused: string | null
  readonly observation: Observation
  readonly end: EpisodeEnd | null
  /** All that a replay has to reproduce, where the target shows more. */
  readonly whole?: object
}
