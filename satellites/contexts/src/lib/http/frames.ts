import { jsonObjectSchema, type WireErrorCode } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/internal'
import { z } from 'zod'
import type {
  ClosedFrame,
  ConversationTransition,
  Frame,
  HistoryEntry,
  PublicConversation,
  Question,
} from '../model/conversation-record.ts'

const seq = z.int().min(0)
const address = z.union([
  z.literal('conversation'),
  z.strictObject({ context: z.string().max(128) }),
  z.strictObject({ topic: z.string().max(128) }),
])

const clientFrameSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('join'), key: z.string().min(16).max(256).optional() }),
  z.strictObject({ type: z.literal('resume'), handle: z.string().max(128), since: z.int().min(0).default(0) }),
  z.strictObject({ type: z.literal('say'), seq, text: z.string() }),
  z.strictObject({
    type: z.literal('act'),
    seq,
    intent: z.string().max(128),
    slots: jsonObjectSchema.default({}),
    context: z.string().max(128).optional(),
  }),
  z.strictObject({
    type: z.literal('publish'),
    id: z.string().min(1).max(128),
    event: z.string().max(128),
    data: jsonObjectSchema.default({}),
    to: address.default('conversation'),
  }),
])

/**
 * A client's message, one JSON text a frame.
 *
 * - `join`: starts a conversation. Another `join` with the same `key`, a secret of at least 16 characters, returns the
 *   same one.
 * - `resume`: continues the conversation of a `handle`, and returns all turns after `since`.
 * - `say`, `act`: the user's words, or an intent without words. `seq` counts them from 0; a repeated one returns the
 *   same answer.
 * - `publish`: publishes an event, once for each `id`. Requires a token of the trainer endpoint.
 */
export type ClientFrame = z.output<typeof clientFrameSchema>

/** Returns a problem as a string. */
export function readFrame(text: string): ClientFrame | string {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return 'A frame is one JSON object, and this is not JSON.'
  }
  const parsed = clientFrameSchema.safeParse(json)
  if (parsed.success) return parsed.data
  const type = (json as { type?: unknown } | null)?.type
  return `${typeof type === 'string' ? `This is no frame of the type ${JSON.stringify(type.slice(0, 32))}` : 'This is no frame'}: ${formatZodError(parsed.error)}. The types are join, resume, say, act and publish.`
}

/** One turn of a conversation: an input, its replies and its transitions. */
export interface ConversationTurn extends Omit<HistoryEntry, 'now' | 'slots'> {
  readonly transitions: readonly ConversationTransition[]
}

export interface ServerPush {
  /** The number of turns so far: the `since` of a later `resume`. */
  readonly turn: number
  readonly turns: readonly ConversationTurn[]
  readonly missed: boolean
  readonly stack: readonly Frame[]
  readonly closed: readonly ClosedFrame[]
  readonly question: Question | null
  readonly ended: string | null
}

export function serverPushAfter(
  { turn, history, path, stack, closed, question, ended }: PublicConversation,
  since: number,
): ServerPush {
  const entries = history.filter((entry) => entry.turn > since)
  return {
    turn,
    turns: entries.map(({ now, slots, ...entry }) => ({
      ...entry,
      transitions: path.filter((transition) => transition.turn === entry.turn),
    })),
    missed: entries.length < turn - since,
    stack,
    closed,
    question,
    ended,
  }
}

/** A server's message, one JSON text a frame. */
export type ServerFrame =
  | ({
      readonly type: 'joined'
      /** The secret to resume with. */
      readonly handle: string
      /** Whether this client may `publish`: whether it has a token of the trainer endpoint. */
      readonly publishes: boolean
      /**
       * The session's control handle for the trainer endpoint: only after `join`, and only if the client may publish.
       */
      readonly control?: string
      /** The lines before the first turn. */
      readonly opening: readonly string[]
    } & ServerPush)
  | ({ readonly type: 'news' } & ServerPush)
  | {
      readonly type: 'answer'
      readonly seq: number
      readonly replies: readonly string[]
      readonly intent: string | null
      /** Why it was refused and changed nothing; `null` if it was taken. */
      readonly refused: string | null
      /** Whether this is the stored answer of an earlier one. */
      readonly replayed: boolean
    }
  | { readonly type: 'published'; readonly id: string; readonly delivered: 'now' | 'before' }
  | {
      readonly type: 'error'
      readonly code: WireErrorCode
      readonly message: string
      /** That of the rejected frame, if it has one. */
      readonly seq?: number
      readonly id?: string
      /** The `seq` of the next message. */
      readonly expected?: number
      readonly retryAfterSeconds?: number
    }
