import type { JsonObject, Rng } from '@episodic/protocol'
import type { z } from 'zod'
import type { ConversationRecord } from '../model/conversation-record.ts'

/** How things stand, as a goal judges them. */
export interface GoalView<Goal, Params = JsonObject> {
  readonly record: ConversationRecord
  readonly goal: Goal
  readonly params: Params
}

/** What is to come of a conversation. All of it is pure. */
export interface ConversationGoal<Goal extends z.ZodType, Params> {
  /** What a goal is: an object schema. */
  readonly schema: Goal
  /**
   * Draws the goal of an episode; `null` where whoever plays the user wants nothing in particular: nothing is reached or rewarded
   * then, and the conversation goes on until somebody ends it. A simulated user needs one.
   */
  draw(at: { readonly params: Params; readonly rng: Rng }): z.input<Goal> | null
  /** Says to an agent that plays the user what they want. */
  describe(goal: z.output<Goal>): string
  /** Whether the task is done, judged by the record alone: what is booked, not what was said. */
  reached(view: GoalView<z.output<Goal>, Params>): boolean
  /** Which share of what the goal names is right so far, from 0 to 1: the slots of a booking, for one. */
  accuracy?(view: GoalView<z.output<Goal>, Params>): number
  /** Which share of the digressions that the goal names was handled so far, from 0 to 1. */
  digressions?(view: GoalView<z.output<Goal>, Params>): number
}
