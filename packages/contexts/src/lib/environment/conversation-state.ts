import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { Conversation } from '../model/conversation.ts'
import type { ConversationRecord, PrivateConversation, PublicConversation } from '../model/conversation-record.ts'
import type { UserSimulator } from './user-simulator.ts'

/** What was said, as both sides heard it. Bounded. */
export interface Line {
  readonly by: 'user' | 'assistant'
  readonly text: string
}

/** How many lines of the dialogue an environment shows. */
const MAX_LINES = 20

/** The state of an environment that is made of a conversation. */
export interface ConversationState {
  public: {
    conversation: PublicConversation
    /** What the agent is to do, where it plays the user; `null` where it is to find out, or wants nothing in particular. */
    goal: JsonObject | null
    /** The dialogue, oldest first: the last lines of it. */
    dialogue: readonly Line[]
    /** The time of the conversation, in milliseconds since 1970 UTC. It stands still while an episode is played. */
    now: number
  }
  private: {
    conversation: PrivateConversation
    /** `null` where nobody wants anything in particular. */
    goal: JsonObject | null
    /** What the simulated user remembers; `null` where the agent plays the user. */
    user: unknown
    /** How the simulated user talks; left out where no speaker speaks for them. */
    style?: string | undefined
  }
}

/** Schemas of such a state. `hasStyle` where a speaker speaks for the user. */
export function stateSchemas(
  { schemas }: Pick<Conversation, 'schemas'>,
  goal: z.ZodType,
  user: UserSimulator<never> | null,
  hasStyle: boolean,
): {
  readonly public: z.ZodType<ConversationState['public']>
  readonly private: z.ZodType<ConversationState['private']>
} {
  const line = z.object({ by: z.enum(['user', 'assistant']), text: z.string() })
  const open = z.object({
    conversation: schemas.public,
    goal: user ? z.null() : goal.nullable(),
    dialogue: z.array(line).max(MAX_LINES),
    now: z.number(),
  })
  const hidden = z.object({
    conversation: schemas.private,
    goal: user ? goal : goal.nullable(),
    user: user ? user.state : z.null(),
    ...(hasStyle && { style: z.string() }),
  })
  return { public: open as never, private: hidden as never }
}

export function recordOf(state: ConversationState): ConversationRecord {
  return { public: state.public.conversation, private: state.private.conversation }
}

/** Puts a record into a draft of the state. */
export function keepRecord(state: ConversationState, { public: open, private: hidden }: ConversationRecord): void {
  state.public.conversation = open
  state.private.conversation = hidden
}

/** Adds to the dialogue. */
export function keepLines(state: ConversationState, lines: readonly Line[]): void {
  state.public.dialogue = [...state.public.dialogue, ...lines].slice(-MAX_LINES)
}

/** Says what is open, as a player is told. */
export function tellOpen({ stack, question }: PublicConversation): string {
  const [active, ...below] = stack.toReversed().map(({ context, state }) => `${context} (${state})`)
  const open = active
    ? `Open: ${active}${below.length > 0 ? `, over ${below.join(', over ')}` : ''}.`
    : 'Nothing is open.'
  const options = question?.options.map(({ label }, index) => `${index + 1}. ${label}`)
  return options ? `${open} To be answered: ${options.join('; ')}.` : open
}
