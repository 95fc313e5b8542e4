import { findNonJson, type JsonObject } from '@episodic/protocol'
import type { Context } from '../model/context.ts'
import { ContextError } from '../model/context-error.ts'
import type { ClosedFrame } from '../model/conversation-record.ts'
import { failed } from '../model/failed.ts'
import type { InputData, MachineHandler } from '../model/machine.ts'
import { closeFrame } from './end-turn.ts'
import { momentOf, runCode } from './moment.ts'
import {
  enterFrame,
  findHandler,
  leaveState,
  playHandler,
  type Requests,
  resumeFrame,
  unknownContext,
} from './play-frame.ts'
import { activeFrame, NOTHING, note, type OpenFrame, type Turn } from './turn.ts'

/** A frame that is not on the stack yet. Its data are what the schemas make of nothing, copied: defaults are one object for all. */
export function newFrame(turn: Turn, context: Context): OpenFrame {
  return {
    id: turn.nextFrame,
    context,
    state: context.initial,
    data: structuredClone(context.data.parse({})) as JsonObject,
    hidden: context.hidden ? (structuredClone(context.hidden.parse({})) as JsonObject) : NOTHING,
    kept: null,
    drafted: true,
    needsPrompt: false,
  }
}

/** Opens a context over the active one. Throws `too-deep`, and `unknown-context`. */
export function open(
  turn: Turn,
  name: string,
  on: string | null,
  handler: MachineHandler = {},
  given: InputData = {},
): void {
  const context = turn.rules.contexts.get(name)
  if (!context) throw unknownContext(turn, name)
  const { depth } = turn.rules.bounds
  if (turn.stack.length >= depth)
    throw new ContextError(
      'too-deep',
      `${depth} contexts are open, and no more may be. Finish or cancel one, then open ${name} again.`,
      { details: { depth } },
    )
  suspend(turn, on)
  const frame = newFrame(turn, context)
  turn.nextFrame += 1
  turn.stack.push(frame)
  settle(turn, frame, enterFrame(turn, frame, on, handler, given))
}

/** Hands an input to a frame. One that is not active comes forward first, and says so afterwards. */
export function handTo(turn: Turn, frame: OpenFrame, on: string, handler: MachineHandler, given: InputData): void {
  const wasActive = frame === activeFrame(turn)
  if (!wasActive) raise(turn, frame, on)
  const requests = playHandler(turn, frame, on, handler, given)
  // Said after the effect, so that it tells how things stand now.
  if (!wasActive && !isDone(frame)) resumeFrame(turn, frame, null)
  settle(turn, frame, requests)
}

/** Tells a frame of an event, wherever it stands. Says whether it took it. */
export function tell(turn: Turn, frame: OpenFrame, event: string, given: InputData): boolean {
  const handler = findHandler(turn, frame, event, given)
  if (!handler) return false
  settle(turn, frame, playHandler(turn, frame, event, handler, given))
  return true
}

/** Brings a suspended frame to the top, and lets it say so. */
export function activate(turn: Turn, frame: OpenFrame, on: string | null): void {
  if (frame === activeFrame(turn)) {
    frame.needsPrompt = true
    return
  }
  raise(turn, frame, on)
  resumeFrame(turn, frame, null)
}

/** Gives up the active frame. Throws `nothing-open`. */
export function cancel(turn: Turn): void {
  const frame = activeFrame(turn)
  if (!frame) throw nothingOpen('cancel')
  leaveState(turn, frame)
  close(turn, frame, 'cancelled', 'cancel')
}

/** Changes the places of the active frame and the one below. Throws `nothing-open`. */
export function goBack(turn: Turn): void {
  const below = turn.stack.at(-2)
  if (!below) throw nothingOpen('go back to')
  activate(turn, below, 'back')
}

function nothingOpen(what: string): ContextError {
  return new ContextError('nothing-open', `There is nothing to ${what}.`)
}

/** Does what a handler wished for, and closes its frame where that is done. */
function settle(turn: Turn, frame: OpenFrame, { open: opening, activate: forward, endConversation }: Requests): void {
  if (endConversation !== null) turn.ended = endConversation
  if (isDone(frame)) close(turn, frame, 'finished', null)
  else if (forward) activate(turn, frame, null)
  for (const name of opening) open(turn, name, null)
}

function isDone({ context, state }: OpenFrame): boolean {
  return context.machine.states[state]?.final === true
}

function raise(turn: Turn, frame: OpenFrame, on: string | null): void {
  suspend(turn, on)
  turn.stack = [...turn.stack.filter((other) => other !== frame), frame]
  note(turn, 'resumed', frame, { from: frame.state, to: frame.state, on })
}

function suspend(turn: Turn, on: string | null): void {
  const frame = activeFrame(turn)
  if (frame) note(turn, 'suspended', frame, { from: frame.state, to: frame.state, on })
}

/** Takes a frame off the stack. Where it was active, the one below resumes. */
function close(turn: Turn, frame: OpenFrame, how: ClosedFrame['how'], on: string | null): void {
  const wasActive = frame === activeFrame(turn)
  const closed = closeFrame(frame, how, how === 'finished' ? resultOf(turn, frame) : null)
  turn.closed.push(closed)
  turn.stack = turn.stack.filter((other) => other !== frame)
  note(turn, how, frame, { from: frame.state, to: null, on })
  const below = activeFrame(turn)
  if (!wasActive || !below || turn.ended !== null) return
  note(turn, 'resumed', below, { from: below.state, to: below.state, on: null })
  resumeFrame(turn, below, closed)
}

/** What a context returns. Throws `handler-failed` where that is not JSON. */
function resultOf(turn: Turn, frame: OpenFrame): JsonObject | null {
  const { result } = frame.context.machine
  if (!result) return null
  const returned = runCode(frame, 'The result', () => result(momentOf(turn, frame))) ?? null
  const problem = findNonJson(returned, 'result')
  if (problem) throw failed(`${frame.context.name} returned what JSON cannot say: ${problem}`)
  // A copy, because it may hold parts of the data.
  return structuredClone(returned)
}
