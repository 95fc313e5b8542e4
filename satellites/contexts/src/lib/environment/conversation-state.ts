import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { Conversation } from '../model/conversation.ts'
import type { ConversationRecord, PrivateConversation, PublicConversation } from '../model/conversation-record.ts'
import type { Reply } from '../model/turn-result.ts'
import type { UserSimulator } from './user-simulator.ts'

export interface DialogueLine {
  readonly by: 'user' | 'assistant'
  readonly text: string
}

const MAX_LINES = 20

export interface ConversationState {
  public: {
    conversation: PublicConversation
    goal: JsonObject | null
    dialogue: readonly DialogueLine[]
    /** The time of the conversation, in milliseconds since 1970 UTC. The same throughout an episode. */
    now: number
  }
  private: { conversation: PrivateConversation; goal: JsonObject | null; user: unknown }
}

export function stateSchemas(
  { schemas }: Pick<Conversation, 'schemas'>,
  goal: z.ZodType,
  user: UserSimulator<never> | null,
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
  })
  return { public: open as never, private: hidden as never }
}

export function recordOf(state: ConversationState): ConversationRecord {
  return { public: state.public.conversation, private: state.private.conversation }
}

export function keepRecord(state: ConversationState, { public: open, private: hidden }: ConversationRecord): void {
  state.public.conversation = open
  state.private.conversation = hidden
}

export function linesOf(replies: readonly Reply[]): DialogueLine[] {
  return replies.map(({ text }) => ({ by: 'assistant', text }))
}

export function keepLines(state: ConversationState, lines: readonly DialogueLine[]): void {
  state.public.dialogue = [...state.public.dialogue, ...lines].slice(-MAX_LINES)
}

export function formatOpen({ stack, question }: PublicConversation): string {
  const [active, ...below] = stack.toReversed().map(({ context, state }) => `${context} (${state})`)
  const open = active
    ? `Open: ${active}${below.length > 0 ? `, over ${below.join(', over ')}` : ''}.`
    : 'Nothing is open.'
  const options = question?.options.map(({ label }, index) => `${index + 1}. ${label}`)
  return options ? `${open} To be answered: ${options.join('; ')}.` : open
}
