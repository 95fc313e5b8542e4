import { findNonJson, type Json, type JsonObject } from '@episodic/protocol'
import { ContextError, handlerFailed, handlerThrew } from '../model/context-error.ts'
import type { EventAddress } from '../model/conversation-input.ts'
import type { ClosedFrame } from '../model/conversation-record.ts'
import type { Effect, Hook, InputData, MachineHandler, Shared, View } from '../model/machine.ts'
import { inputProblem, readEvent, unknownContext } from './check-input.ts'
import { say } from './reply.ts'
import { type OpenFrame, recordTransition, type Turn } from './turn.ts'

/** The most `always` transitions in a row: more are a cycle. */
const MAX_ALWAYS = 32

/** The most events that one input may cause, directly or by other events: more are a cycle. */
const MAX_PUBLISHED = 32

/** An input that a frame takes: its name, `null` for a transition without one, its handler, and what comes with it. */
export interface Taken {
  readonly on: string | null
  readonly handler: MachineHandler
  readonly given: InputData
}

/** What effects asked of the conversation: done after their transition. */
export interface Requests {
  readonly open: string[]
  activate: boolean
  endConversation: string | null
}

/** Finds the handler of an input: the first of the state, or else of the context, whose guard returns true. */
export function findHandler(turn: Turn, frame: OpenFrame, input: string, given: InputData): MachineHandler | undefined {
  const { states, on } = frame.context.machine
  return pick(turn, frame, states[frame.state]?.on[input], given) ?? pick(turn, frame, on[input], given)
}

export function pick(
  turn: Turn,
  frame: OpenFrame,
  handlers: readonly MachineHandler[] | undefined,
  given: InputData,
): MachineHandler | undefined {
  return handlers?.find(({ guard }) => !guard || runCode(frame, 'A guard', () => guard(viewOf(turn, frame, given))))
}

export function enterFrame(turn: Turn, frame: OpenFrame, { on, handler, given }: Taken): Requests {
  const requests: Requests = { open: [], activate: false, endConversation: null }
  if (handler.target !== undefined) frame.state = handler.target
  recordTransition(turn, 'opened', frame, { from: null, to: frame.state, on })
  frame.needsPrompt = true
  reportUnrecognised(turn, frame, on, given)
  runEffect(turn, frame, handler, given, requests)
  enterState(turn, frame)
  runAlways(turn, frame, requests)
  return requests
}

export function playHandler(turn: Turn, frame: OpenFrame, taken: Taken): Requests {
  const requests: Requests = { open: [], activate: false, endConversation: null }
  move(turn, frame, taken, requests)
  runAlways(turn, frame, requests)
  return requests
}

function runAlways(turn: Turn, frame: OpenFrame, requests: Requests): void {
  for (let made = 0; made <= MAX_ALWAYS; made++) {
    const handler = pick(turn, frame, frame.context.machine.states[frame.state]?.always, {})
    if (!handler) return
    move(turn, frame, { on: null, handler, given: {} }, requests)
  }
  throw handlerFailed(
    `${frame.context.name} goes round in ${frame.state}: ${MAX_ALWAYS} transitions followed by themselves`,
  )
}

function move(turn: Turn, frame: OpenFrame, { on, handler, given }: Taken, requests: Requests): void {
  makeDraft(frame)
  frame.needsPrompt = true
  reportUnrecognised(turn, frame, on, given)
  const { target } = handler
  if (target === undefined) {
    runEffect(turn, frame, handler, given, requests)
    return
  }
  const from = frame.state
  leaveState(turn, frame)
  runEffect(turn, frame, handler, given, requests)
  frame.state = target
  recordTransition(turn, 'moved', frame, { from, to: target, on })
  enterState(turn, frame)
  const { onTransition } = frame.context.machine
  if (onTransition)
    runCode(frame, 'The onTransition', () =>
      onTransition(Object.assign(hookContext(turn, frame), { from, to: target, on })),
    )
}

function enterState(turn: Turn, frame: OpenFrame): void {
  const state = frame.context.machine.states[frame.state]
  if (state?.entry) runCode(frame, `The entry of ${frame.state}`, () => state.entry?.(hookContext(turn, frame)))
}

export function leaveState(turn: Turn, frame: OpenFrame): void {
  const state = frame.context.machine.states[frame.state]
  makeDraft(frame)
  if (state?.exit) runCode(frame, `The exit of ${frame.state}`, () => state.exit?.(hookContext(turn, frame)))
}

function reportUnrecognised(turn: Turn, frame: OpenFrame, on: string | null, { unrecognised = [] }: InputData): void {
  const { machine } = frame.context
  for (const phrase of unrecognised)
    runCode(frame, 'The unrecognised', () =>
      machine.unrecognised?.(Object.assign(hookContext(turn, frame), { ...phrase, intent: String(on) })),
    )
}

function runEffect(turn: Turn, frame: OpenFrame, handler: MachineHandler, given: InputData, requests: Requests): void {
  const { effect } = handler
  if (!effect) return
  const context = Object.assign(hookContext(turn, frame, given), {
    previous: previousData(turn, frame),
    open: (name: string) => {
      if (!turn.rules.contexts.has(name)) throw unknownContext(turn.rules, name)
      requests.open.push(name)
    },
    activate: () => {
      requests.activate = true
    },
    endConversation: (reason: string) => {
      requests.endConversation = reason
    },
  }) satisfies Effect
  runCode(frame, 'An effect', () => effect(context))
}

function previousData({ closed, record }: Turn, { context }: OpenFrame): JsonObject | null {
  const ofContext = (frame: ClosedFrame) => frame.context === context.name
  const data = (closed.findLast(ofContext) ?? record.public.closed.findLast(ofContext))?.data
  // A copy: an effect may put parts of it into its own data, and edit them there.
  return data ? structuredClone(data) : null
}

export function resumeFrame(turn: Turn, frame: OpenFrame, closed: ClosedFrame | null): void {
  makeDraft(frame)
  frame.needsPrompt = true
  runCode(frame, 'The resume', () => frame.context.machine.resume(Object.assign(hookContext(turn, frame), { closed })))
}

export function prompt(turn: Turn, frame: OpenFrame): void {
  const state = frame.context.machine.states[frame.state]
  if (!state?.prompt) return
  const text = runCode(frame, `The prompt of ${frame.state}`, () => state.prompt?.(viewOf(turn, frame)))
  if (text) say(turn, text, frame)
}

export function topicsOf(frame: OpenFrame): readonly string[] {
  return runCode(frame, 'The topics', () => frame.context.machine.topics(frame.data))
}

export function resultOf(turn: Turn, frame: OpenFrame): JsonObject | null {
  const { result } = frame.context.machine
  if (!result) return null
  const returned = runCode(frame, 'The result', () => result(viewOf(turn, frame))) ?? null
  const problem = findNonJson(returned, 'result')
  if (problem) throw handlerFailed(`${frame.context.name} returned what JSON cannot say: ${problem}`)
  // A copy, because it may hold parts of the data.
  return structuredClone(returned)
}

/** Runs code of a context. Throws `handler-failed` if it throws or returns a promise: handlers are synchronous. */
function runCode<T>(frame: OpenFrame, what: string, run: () => T): T {
  let value: T
  try {
    value = run()
  } catch (cause) {
    if (ContextError.is(cause, 'handler-failed')) throw cause
    throw handlerThrew(`${what} of ${frame.context.name}`, cause)
  }
  if (value instanceof Promise) {
    value.catch(() => {})
    throw handlerFailed(`${what} of ${frame.context.name} is asynchronous, and the code of a context answers at once`)
  }
  return value
}

function viewOf(turn: Turn, frame: OpenFrame, given: InputData = {}): View {
  return {
    ...given,
    data: frame.data,
    hidden: frame.hidden,
    get shared() {
      return frame.context.shared ? sharedDraft(turn) : undefined
    },
    now: turn.now,
  }
}

function hookContext(turn: Turn, frame: OpenFrame, given: InputData = {}): Hook {
  return Object.assign(viewOf(turn, frame, given), {
    state: frame.state,
    say: (text: string) => say(turn, text, frame),
    reveal: <T extends Json>(value: T) => {
      turn.revealed.push(value)
      return value
    },
    publish: (type: string, data: JsonObject, to: EventAddress = 'conversation') =>
      publish(turn, frame, type, data, to),
  })
}

function publish(turn: Turn, frame: OpenFrame, type: string, data: JsonObject, to: EventAddress): void {
  const problem = inputProblem(turn.rules, { kind: 'event', id: 'published', type, data, to, now: turn.now })
  if (problem) throw problem
  readEvent(turn.rules, { type, data, to })
  if (turn.delivered + turn.published.length === MAX_PUBLISHED)
    throw handlerFailed(
      `${frame.context.name} goes round with ${type}: ${MAX_PUBLISHED} events have followed from one input`,
    )
  // A copy: the data may be part of a draft, which is edited further.
  turn.published.push({ type, data: structuredClone(data), to })
}

function sharedDraft(turn: Turn): Shared {
  turn.shared ??= structuredClone({ public: turn.record.public.shared, private: turn.record.private.shared })
  return turn.shared
}

function makeDraft(frame: OpenFrame): void {
  if (frame.drafted) return
  frame.data = structuredClone(frame.data)
  if (frame.context.hidden) frame.hidden = structuredClone(frame.hidden)
  frame.drafted = true
  frame.kept = null
}
