import type { Rng } from '@episodic/protocol'
import type { z } from 'zod'
import type { ConversationRecord } from '../model/conversation-record.ts'

/**
 * A scripted user, for an agent that plays the assistant. Pure and seeded: what it remembers is plain JSON in the private
 * part of the environment's state, and its chance comes from the session, so that an episode replays and forks.
 */
export interface UserSimulator<Goal, State extends z.ZodType = z.ZodType> {
  /** What it remembers: patience, what it has said, what it still wants. */
  readonly state: State
  /** Begins: what it remembers at first, and the first thing it says. */
  start(at: { readonly goal: Goal; readonly rng: Rng }): { readonly state: z.input<State>; readonly says: string }
  /** Answers what the assistant said. It may look at the record, as a user sees a booking on a screen. */
  answer(at: {
    /** A draft to edit. */
    readonly state: z.output<State>
    readonly goal: Goal
    readonly record: ConversationRecord
    /** What the assistant said. */
    readonly text: string
    /** When, in milliseconds since 1970 UTC. */
    readonly now: number
    readonly rng: Rng
  }): UserTurn
}

/** What a user does: says something, or leaves, content or not, for a reason that ends the episode. */
export type UserTurn =
  | { readonly kind: 'says'; readonly text: string }
  | { readonly kind: 'leaves'; readonly text: string; readonly reason: string }
