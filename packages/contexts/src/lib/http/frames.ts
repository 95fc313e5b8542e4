import { jsonObjectSchema, type WireErrorCode } from '@episodic/protocol'
import { formatZodError } from '@episodic/protocol/extend'
import { z } from 'zod'
import type {
  ClosedFrame,
  ConversationTransition,
  Frame,
  HistoryEntry,
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
  z.strictObject({
    type: z.literal('resume'),
    handle: z.string().max(128),
    since: z.int().min(0).default(0),
  }),
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
 * What a client sends, one JSON text a frame.
 *
 * - `join`: begin a conversation. With the same `key`, which is a secret of at least 16 characters, it is the same one.
 * - `resume`: go on with the conversation of a `handle`, and hear of all turns after `since`.
 * - `say`, `act`: what the user says, or wants without words. `seq` counts them from 0: the same one again has the same answer.
 * - `publish`: tell the conversation what happened outside, once for each `id`. For whoever came with a token of the trainer endpoint.
 */
export type ClientFrame = z.output<typeof clientFrameSchema>

/** Reads a frame of a client. Gives what is wrong with it as a text. */
export function readFrame(text: string): ClientFrame | string {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return 'A frame is one JSON object, and this is no JSON.'
  }
  const parsed = clientFrameSchema.safeParse(json)
  if (parsed.success) return parsed.data
  const type = (json as { type?: unknown } | null)?.type
  return `${typeof type === 'string' ? `This is no frame of the type ${JSON.stringify(type.slice(0, 32))}` : 'This is no frame'}: ${formatZodError(parsed.error)}. The types are join, resume, say, act and publish.`
}

/** One turn of a conversation: what was taken, what was answered, and how that moved it. */
export interface ConversationTurn extends Omit<HistoryEntry, 'now' | 'slots'> {
  readonly transitions: readonly ConversationTransition[]
}

/** How a conversation stands, and how it came there. */
export interface ServerPush {
  /** Turns so far: what to `resume` after. */
  readonly turn: number
  /** The turns that the client has not heard of, oldest first. */
  readonly turns: readonly ConversationTurn[]
  /** Whether some of them are not remembered any more. */
  readonly missed: boolean
  readonly stack: readonly Frame[]
  readonly closed: readonly ClosedFrame[]
  readonly question: Question | null
  /** Why the conversation is over; `null` while it goes on. */
  readonly ended: string | null
}

/** What a server sends, one JSON text a frame. */
export type ServerFrame =
  | ({
      readonly type: 'joined'
      /** The secret to resume with. */
      readonly handle: string
      /** Whether this client may `publish`: whether it came with a token of the trainer endpoint. */
      readonly publishes: boolean
      /** The session's control handle, for whoever may publish and has just begun it: what the trainer endpoint wants. */
      readonly control?: string
      /** What was said before the first turn. */
      readonly opening: readonly string[]
    } & ServerPush)
  | ({ readonly type: 'news' } & ServerPush)
  | {
      readonly type: 'answer'
      readonly seq: number
      readonly replies: readonly string[]
      /** What it was taken for; `null` where it was not understood. */
      readonly intent: string | null
      /** Why it was not taken, and changed nothing; `null` where it was. */
      readonly refused: string | null
      /** Whether this was answered before. */
      readonly replayed: boolean
    }
  | { readonly type: 'published'; readonly id: string; readonly delivered: 'now' | 'before' }
  | {
      readonly type: 'error'
      readonly code: WireErrorCode
      readonly message: string
      /** Of the frame that is refused, where it has one. */
      readonly seq?: number
      readonly id?: string
      /** The `seq` that would have been right. */
      readonly expected?: number
      readonly retryAfterSeconds?: number
    }
