import type { Json, JsonObject } from '@episodic/protocol'
import type { Context } from '../model/context.ts'
import { ContextError } from '../model/context-error.ts'
import type { EventAddress } from '../model/conversation-input.ts'
import type {
  ClosedFrame,
  ConversationRecord,
  ConversationTransition,
  Frame,
  Question,
} from '../model/conversation-record.ts'
import type { ConversationRules } from '../model/conversation-rules.ts'
import type { Shared } from '../model/machine.ts'
import type { Reply } from '../model/turn-result.ts'

/** A frame in play: what is edited is copied first, so that the record it came from stays as it was. */
export interface OpenFrame {
  readonly id: number
  readonly context: Context
  state: string
  data: JsonObject
  hidden: JsonObject
  /** The frame of the record, until something about this one changes. */
  kept: Frame | null
  /** Whether its data are copies, free to edit. */
  drafted: boolean
  /** Whether it was entered, moved, edited or resumed, so that its prompt is due. */
  needsPrompt: boolean
}

/** An event that a hook has published, to be delivered once its own turn is over. */
export interface Published {
  readonly type: string
  readonly data: JsonObject
  readonly to: EventAddress
}

/** One input being taken, or one event that follows from it: the working copy of a record. Dropped when anything throws. */
export interface Turn {
  readonly rules: ConversationRules
  readonly record: ConversationRecord
  readonly now: number
  /** The last is active. */
  stack: OpenFrame[]
  readonly closed: ClosedFrame[]
  readonly replies: Reply[]
  readonly transitions: ConversationTransition[]
  readonly revealed: Json[]
  /** What is still to be delivered, oldest first. */
  readonly published: Published[]
  /** The text that the user gets in place of the replies; `null` if they get the replies. */
  readonly written: string | null
  /** How many that were published have been delivered since the input came, this turn's own included. */
  readonly delivered: number
  /** A copy of what is shared, made when the first handler asks. */
  shared: Shared | null
  question: Question | null
  ended: string | null
  nextFrame: number
}

/** Begins to take an input. Throws `record-invalid` for a record that names what the conversation does not know. */
export function beginTurn(
  rules: ConversationRules,
  record: ConversationRecord,
  now: number,
  written: string | null = null,
): Turn {
  const { stack, question, ended, nextFrame } = record.public
  return {
    rules,
    record,
    now,
    stack: stack.map((frame) => openFrame(rules, record, frame)),
    closed: [],
    replies: [],
    transitions: [],
    revealed: [],
    published: [],
    written,
    delivered: 0,
    shared: null,
    question,
    ended,
    nextFrame,
  }
}

/** Begins the turn that follows within the taking of one input, on the record that the turn before it has made. */
export function followingTurn(turn: Turn, record: ConversationRecord): Turn {
  const next = beginTurn(turn.rules, record, turn.now, turn.written)
  for (const frame of next.stack)
    frame.needsPrompt = turn.stack.some(({ id, needsPrompt }) => id === frame.id && needsPrompt)
  return { ...next, published: turn.published, delivered: turn.delivered + 1 }
}

function openFrame(rules: ConversationRules, record: ConversationRecord, frame: Frame): OpenFrame {
  const context = rules.contexts.get(frame.context)
  if (!context || !Object.hasOwn(context.machine.states, frame.state))
    throw new ContextError(
      'record-invalid',
      `The record has ${frame.context} open in the state ${frame.state}, which ${rules.name} does not know. Play it with the conversation that wrote it.`,
    )
  const { id, state, data } = frame
  const hidden = record.private.hidden[id] ?? NOTHING
  return { id, context, state, data, hidden, kept: frame, drafted: false, needsPrompt: false }
}

/** What hidden data a context without any has. */
export const NOTHING: JsonObject = Object.freeze({})

export function activeFrame(turn: Turn): OpenFrame | undefined {
  return turn.stack.at(-1)
}

/** Notes a move of the conversation. */
export function note(
  turn: Turn,
  kind: ConversationTransition['kind'],
  frame: OpenFrame,
  between: Pick<ConversationTransition, 'from' | 'to' | 'on'>,
): void {
  turn.transitions.push({
    turn: turn.record.public.turn + 1,
    kind,
    frame: frame.id,
    context: frame.context.name,
    ...between,
  })
}

/** What a record tells of a frame besides its data. */
export function headOf({ id, context, state }: OpenFrame): Omit<Frame, 'data'> {
  return { id, context: context.name, state }
}
