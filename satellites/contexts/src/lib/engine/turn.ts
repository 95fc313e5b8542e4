import type { Json, JsonObject } from '@episodic/protocol'
import type { z } from 'zod'
import type { Context, SharedSchemas } from '../model/context.ts'
import { ContextError } from '../model/context-error.ts'
import type { ConversationBounds, ConversationDefinition } from '../model/conversation.ts'
import type { EventAddress } from '../model/conversation-input.ts'
import type {
  ClosedFrame,
  ConversationRecord,
  ConversationTransition,
  Frame,
  Question,
} from '../model/conversation-record.ts'
import type { IntentInfo } from '../model/interpreter.ts'
import type { Shared } from '../model/machine.ts'
import type { Router } from '../model/router.ts'
import type { Reply } from '../model/turn-result.ts'

export interface ConversationRules {
  readonly name: string
  readonly contexts: ReadonlyMap<string, Context>
  readonly initial: string | null
  readonly router: Router
  readonly shared: SharedSchemas | null
  readonly bounds: ConversationBounds
  readonly events: ReadonlyMap<string, z.ZodType>
  readonly intents: ReadonlyMap<string, IntentInfo>
  readonly fallback: NonNullable<ConversationDefinition<readonly Context[]>['fallback']>
  readonly summarise: NonNullable<ConversationDefinition<readonly Context[]>['summarise']>
}

/** The working copy of a frame: its data are copied before the first edit, so that the record is not edited. */
export interface OpenFrame {
  readonly id: number
  readonly context: Context
  state: string
  data: JsonObject
  hidden: JsonObject
  /** The frame of the record, while this one is unchanged. */
  kept: Frame | null
  drafted: boolean
  needsPrompt: boolean
}

export interface Published {
  readonly type: string
  readonly data: JsonObject
  readonly to: EventAddress
}

/** The working copy of a record for one input, or for one event that it caused. Discarded when anything throws. */
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
  readonly published: Published[]
  readonly delivered: number
  shared: Shared | null
  question: Question | null
  ended: string | null
  nextFrame: number
}

export function startTurn(rules: ConversationRules, record: ConversationRecord, now: number): Turn {
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
    delivered: 0,
    shared: null,
    question,
    ended,
    nextFrame,
  }
}

export function followingTurn(turn: Turn, record: ConversationRecord): Turn {
  const next = startTurn(turn.rules, record, turn.now)
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
  const hidden = record.private.hidden[id] ?? NO_DATA
  return { id, context, state, data, hidden, kept: frame, drafted: false, needsPrompt: false }
}

const NO_DATA: JsonObject = Object.freeze({})

/** Creates a frame off the stack. Its data are copies: a schema returns the same default object every time. */
export function newFrame(turn: Turn, context: Context): OpenFrame {
  return {
    id: turn.nextFrame,
    context,
    state: context.initial,
    data: structuredClone(context.data.parse({})) as JsonObject,
    hidden: context.hidden ? (structuredClone(context.hidden.parse({})) as JsonObject) : NO_DATA,
    kept: null,
    drafted: true,
    needsPrompt: false,
  }
}

export function activeFrame(turn: Turn): OpenFrame | undefined {
  return turn.stack.at(-1)
}

export function recordTransition(
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

export function headOf({ id, context, state }: OpenFrame): Omit<Frame, 'data'> {
  return { id, context: context.name, state }
}
