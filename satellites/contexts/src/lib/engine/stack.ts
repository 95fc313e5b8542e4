import { ContextError } from '../model/context-error.ts'
import type { ClosedFrame } from '../model/conversation-record.ts'
import type { InputData, MachineHandler } from '../model/machine.ts'
import { unknownContext } from './check-input.ts'
import { closeFrame } from './next-record.ts'
import {
  enterFrame,
  findHandler,
  leaveState,
  playHandler,
  type Requests,
  resultOf,
  resumeFrame,
  type Taken,
} from './play-frame.ts'
import { activeFrame, newFrame, type OpenFrame, recordTransition, type Turn } from './turn.ts'

export function open(
  turn: Turn,
  name: string,
  on: string | null,
  handler: MachineHandler = {},
  given: InputData = {},
): void {
  const context = turn.rules.contexts.get(name)
  if (!context) throw unknownContext(turn.rules, name)
  const { depth } = turn.rules.bounds
  if (turn.stack.length >= depth)
    throw new ContextError(
      'too-deep',
      `${depth} contexts are open, and no more may be. Finish or cancel one, then open ${name} again.`,
      { details: { depth } },
    )
  suspendActive(turn, on)
  const frame = newFrame(turn, context)
  turn.nextFrame += 1
  turn.stack.push(frame)
  settle(turn, frame, enterFrame(turn, frame, { on, handler, given }))
}

/** Runs the handler of an intent. A suspended frame is brought to the top first, and its `resume` runs afterwards. */
export function handleIntent(turn: Turn, frame: OpenFrame, taken: Taken): void {
  const wasActive = frame === activeFrame(turn)
  if (!wasActive) bringToTop(turn, frame, taken.on)
  const requests = playHandler(turn, frame, taken)
  // After the effect, so that `resume` describes the new data.
  if (!wasActive && !isDone(frame)) resumeFrame(turn, frame, null)
  settle(turn, frame, requests)
}

export function handleEvent(turn: Turn, frame: OpenFrame, event: string, given: InputData): boolean {
  const handler = findHandler(turn, frame, event, given)
  if (!handler) return false
  settle(turn, frame, playHandler(turn, frame, { on: event, handler, given }))
  return true
}

export function activate(turn: Turn, frame: OpenFrame, on: string | null): void {
  if (frame === activeFrame(turn)) {
    frame.needsPrompt = true
    return
  }
  bringToTop(turn, frame, on)
  resumeFrame(turn, frame, null)
}

export function cancel(turn: Turn): OpenFrame {
  const frame = activeFrame(turn)
  if (!frame) throw nothingOpen('cancel')
  leaveState(turn, frame)
  close(turn, frame, 'cancelled', 'cancel')
  return frame
}

export function goBack(turn: Turn): void {
  const below = turn.stack.at(-2)
  if (!below) throw nothingOpen('go back to')
  activate(turn, below, 'back')
}

function nothingOpen(what: string): ContextError {
  return new ContextError('nothing-open', `There is nothing to ${what}.`)
}

function settle(turn: Turn, frame: OpenFrame, requests: Requests): void {
  if (requests.endConversation !== null) turn.ended = requests.endConversation
  if (isDone(frame)) close(turn, frame, 'finished', null)
  else if (requests.activate) activate(turn, frame, null)
  for (const name of requests.open) open(turn, name, null)
}

function isDone({ context, state }: OpenFrame): boolean {
  return context.machine.states[state]?.final === true
}

function bringToTop(turn: Turn, frame: OpenFrame, on: string | null): void {
  suspendActive(turn, on)
  turn.stack = [...turn.stack.filter((other) => other !== frame), frame]
  recordTransition(turn, 'resumed', frame, { from: frame.state, to: frame.state, on })
}

function suspendActive(turn: Turn, on: string | null): void {
  const frame = activeFrame(turn)
  if (frame) recordTransition(turn, 'suspended', frame, { from: frame.state, to: frame.state, on })
}

function close(turn: Turn, frame: OpenFrame, how: ClosedFrame['how'], on: string | null): void {
  const wasActive = frame === activeFrame(turn)
  const closed = closeFrame(frame, how, how === 'finished' ? resultOf(turn, frame) : null)
  turn.closed.push(closed)
  turn.stack = turn.stack.filter((other) => other !== frame)
  recordTransition(turn, how, frame, { from: frame.state, to: null, on })
  const below = activeFrame(turn)
  if (!wasActive || !below || turn.ended !== null) return
  recordTransition(turn, 'resumed', below, { from: below.state, to: below.state, on: null })
  resumeFrame(turn, below, closed)
}
