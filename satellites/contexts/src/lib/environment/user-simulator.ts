import type { Rng } from '@episodic/protocol'
import type { z } from 'zod'
import type { ConversationRecord } from '../model/conversation-record.ts'

/**
 * A scripted user, for an agent that plays the assistant. Pure and seeded: its memory is plain JSON in the private part
 * of the environment's state, and its random numbers come from the session, so that an episode replays and forks.
 */
export interface UserSimulator<Goal, State extends z.ZodType = z.ZodType> {
  /** Schema of its memory, for example its patience, and what it still wants. */
  readonly state: State
  /** Returns the initial memory, and the first line. */
  start(at: { readonly goal: Goal; readonly rng: Rng }): { readonly state: z.input<State>; readonly says: string }
  /** Answers the assistant. It may read the record, as a user sees a booking on a screen. */
  answer(at: {
    /** A draft to edit. */
    readonly state: z.output<State>
    readonly goal: Goal
    readonly record: ConversationRecord
    /** What the assistant said. */
    readonly text: string
    /** The time, in milliseconds since 1970 UTC. */
    readonly now: number
    readonly rng: Rng
  }): UserTurn
}

/** A user's answer: says something, or leaves for a reason that ends the episode. */
export type UserTurn =
  | { readonly kind: 'says'; readonly text: string }
  | { readonly kind: 'leaves'; readonly text: string; readonly reason: string }
