import type { JsonObject } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/extend'
import { ContextError } from '../model/context-error.ts'
import type { EventAddress } from '../model/conversation-input.ts'
import type { ClosedFrame } from '../model/conversation-record.ts'
import { failed } from '../model/failed.ts'
import type { Effect, Hook, InputData, MachineHandler, View } from '../model/machine.ts'
import { readEventData } from './event-data.ts'
import { inputProblem } from './input-problem.ts'
import { draft, momentOf, runCode, say } from './moment.ts'
import { note, type OpenFrame, type Turn } from './turn.ts'

/** Transitions that may follow one another by themselves, before they are taken for a circle. */
const MAX_ALWAYS = 32

/** Events that may be published from one input on, by its handlers and by those that hear of them, before they are taken for a circle. */
const MAX_PUBLISHED = 32

/** What handlers asked of the conversation: done once their transition is made. */
export interface Requests {
  readonly open: string[]
  activate: boolean
  endConversation: string | null
}

/** The handler of a frame that would take an input now: the first of the state's, or else of the context's, whose guard agrees. */
export function findHandler(turn: Turn, frame: OpenFrame, input: string, given: InputData): MachineHandler | undefined {
  const { states, on } = frame.context.machine
  const state = states[frame.state]
  return (state && pick(turn, frame, state.on[input], given)) ?? pick(turn, frame, on[input], given)
}

/** The handler by which an intent would open a context, judged by the data that it would begin with. */
export function findOpening(
  turn: Turn,
  frame: OpenFrame,
  intent: string,
  given: InputData,
): MachineHandler | undefined {
  return pick(turn, frame, frame.context.machine.opens[intent], given)
}

function pick(
  turn: Turn,
  frame: OpenFrame,
  handlers: readonly MachineHandler[] | undefined,
  given: InputData,
): MachineHandler | undefined {
  return handlers?.find(({ guard }) => {
    if (!guard) return true
    return runCode(frame, 'A guard', () => guard(momentOf(turn, frame, given)))
  })
}

/** Plays the first handler of a new frame: its effect, then the entry of the first state. */
export function enterFrame(
  turn: Turn,
  frame: OpenFrame,
  on: string | null,
  handler: MachineHandler,
  given: InputData,
): Requests {
  const requests = noRequests()
  if (handler.target !== undefined) frame.state = handler.target
  note(turn, 'opened', frame, { from: null, to: frame.state, on })
  frame.needsPrompt = true
  tellUnrecognised(turn, frame, on, given)
  runEffect(turn, frame, handler, given, requests)
  enterState(turn, frame)
  goOn(turn, frame, requests)
  return requests
}

/** Plays a handler of an open frame. */
export function playHandler(
  turn: Turn,
  frame: OpenFrame,
  on: string | null,
  handler: MachineHandler,
  given: InputData,
): Requests {
  const requests = noRequests()
  move(turn, frame, on, handler, given, requests)
  goOn(turn, frame, requests)
  return requests
}

/** Leaves the present state for good, as when the context is cancelled. */
export function leaveState(turn: Turn, frame: OpenFrame): void {
  const state = frame.context.machine.states[frame.state]
  draft(frame)
  if (state?.exit) runCode(frame, `The exit of ${frame.state}`, () => state.exit?.(hookOf(turn, frame)))
}

/** Says that the frame is active again. */
export function resumeFrame(turn: Turn, frame: OpenFrame, closed: ClosedFrame | null): void {
  draft(frame)
  frame.needsPrompt = true
  runCode(frame, 'The resume', () => frame.context.machine.resume(Object.assign(hookOf(turn, frame), { closed })))
}

/** Asks the user what the present state asks for. */
export function prompt(turn: Turn, frame: OpenFrame): void {
  const state = frame.context.machine.states[frame.state]
  if (!state?.prompt) return
  const view: View = momentOf(turn, frame)
  const text = runCode(frame, `The prompt of ${frame.state}`, () => state.prompt?.(view))
  if (text) say(turn, text, frame)
}

function noRequests(): Requests {
  return { open: [], activate: false, endConversation: null }
}

/** Makes the transitions that need no input, until none applies. */
function goOn(turn: Turn, frame: OpenFrame, requests: Requests): void {
  for (let made = 0; made <= MAX_ALWAYS; made++) {
    const handler = pick(turn, frame, frame.context.machine.states[frame.state]?.always, {})
    if (!handler) return
    move(turn, frame, null, handler, {}, requests)
  }
  throw failed(`${frame.context.name} goes round in ${frame.state}: ${MAX_ALWAYS} transitions followed by themselves`)
}

function move(
  turn: Turn,
  frame: OpenFrame,
  on: string | null,
  handler: MachineHandler,
  given: InputData,
  requests: Requests,
): void {
  draft(frame)
  frame.needsPrompt = true
  tellUnrecognised(turn, frame, on, given)
  const { target } = handler
  if (target === undefined) {
    runEffect(turn, frame, handler, given, requests)
    return
  }
  const from = frame.state
  leaveState(turn, frame)
  runEffect(turn, frame, handler, given, requests)
  frame.state = target
  note(turn, 'moved', frame, { from, to: target, on })
  enterState(turn, frame)
  const { onTransition } = frame.context.machine
  if (onTransition)
    runCode(frame, 'The onTransition', () => onTransition(Object.assign(hookOf(turn, frame), { from, to: target, on })))
}

function enterState(turn: Turn, frame: OpenFrame): void {
  const state = frame.context.machine.states[frame.state]
  if (state?.entry) runCode(frame, `The entry of ${frame.state}`, () => state.entry?.(hookOf(turn, frame)))
}

/** Tells a context what was said for slots of an intent and is no value of them, before it takes the intent. */
function tellUnrecognised(turn: Turn, frame: OpenFrame, intent: string | null, { unrecognised = [] }: InputData): void {
  const { machine } = frame.context
  for (const value of unrecognised)
    runCode(frame, 'The unrecognised', () =>
      machine.unrecognised?.(Object.assign(hookOf(turn, frame), { ...value, intent: String(intent) })),
    )
}

function runEffect(turn: Turn, frame: OpenFrame, handler: MachineHandler, given: InputData, requests: Requests): void {
  const { effect } = handler
  if (!effect) return
  const moment = Object.assign(hookOf(turn, frame, given), {
    previous: previousOf(turn, frame),
    open: (context: string) => {
      if (!turn.rules.contexts.has(context)) throw unknownContext(turn, context)
      requests.open.push(context)
    },
    activate: () => {
      requests.activate = true
    },
    endConversation: (reason: string) => {
      requests.endConversation = reason
    },
  }) satisfies Effect
  runCode(frame, 'An effect', () => effect(moment))
}

/** What a hook is handed: it may publish, where what only looks may not. */
function hookOf(turn: Turn, frame: OpenFrame, given: InputData = {}): Hook {
  return Object.assign(momentOf(turn, frame, given), {
    publish: (type: string, data: JsonObject, to: EventAddress = 'conversation') => {
      const problem = inputProblem(turn.rules, { kind: 'event', id: 'published', type, data, to, now: turn.now })
      if (problem) throw problem
      readEventData(turn.rules, type, data)
      assertAddress(turn, to)
      if (turn.delivered + turn.published.length === MAX_PUBLISHED)
        throw failed(
          `${frame.context.name} goes round with ${type}: ${MAX_PUBLISHED} events have followed from one input`,
        )
      // A copy: they may be part of the draft, which goes on changing.
      turn.published.push({ type, data: structuredClone(data), to })
    },
  })
}

/** The data that a context had when it last closed, as long as the conversation remembers. */
function previousOf({ closed, record }: Turn, { context }: OpenFrame): JsonObject | null {
  const ofContext = (frame: ClosedFrame) => frame.context === context.name
  const data = (closed.findLast(ofContext) ?? record.public.closed.findLast(ofContext))?.data
  // A copy: an effect may put parts of it into its own data, and edit them there.
  return data ? structuredClone(data) : null
}

/** Throws `unknown-context` for an address that names none. */
export function assertAddress(turn: Turn, to: EventAddress): void {
  if (typeof to === 'object' && 'context' in to && !turn.rules.contexts.has(to.context))
    throw unknownContext(turn, to.context)
}

export function unknownContext({ rules }: Turn, name: string): ContextError {
  return new ContextError(
    'unknown-context',
    `There is no context "${shorten(name)}". The contexts are: ${[...rules.contexts.keys()].join(', ')}.`,
  )
}
