import type { JsonObject, Rng } from '@episodic/protocol'
import type { z } from 'zod'
import type { ConversationRecord } from '../model/conversation-record.ts'

/** What a goal is judged by. */
export interface GoalView<Goal, Params = JsonObject> {
  readonly record: ConversationRecord
  readonly goal: Goal
  readonly params: Params
}

/** The task of a conversation. All methods are pure. */
export interface ConversationGoal<Goal extends z.ZodType, Params> {
  /** An object schema of goals. */
  readonly schema: Goal
  /** Draws the goal of an episode. `null`: nothing is reached or rewarded. A simulated user needs a goal. */
  draw(at: { readonly params: Params; readonly rng: Rng }): z.input<Goal> | null
  /** Describes the goal to an agent that plays the user. */
  describe(goal: z.output<Goal>): string
  /** Whether the goal is reached. Judged by the record: what is booked, not what was said. */
  reached(view: GoalView<z.output<Goal>, Params>): boolean
  /** The share of the goal's details that are right so far, from 0 to 1: for example the slots of a booking. */
  accuracy?(view: GoalView<z.output<Goal>, Params>): number
  /** The share of the goal's digressions that were handled so far, from 0 to 1. */
  digressions?(view: GoalView<z.output<Goal>, Params>): number
}
