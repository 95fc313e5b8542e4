import { ContextError } from '../model/context-error.ts'
import { failed } from '../model/failed.ts'
import type { InputData, Moment, Shared } from '../model/machine.ts'
import type { OpenFrame, Turn } from './turn.ts'

/** What is shared, free to edit. */
function sharedDraft(turn: Turn): Shared {
  turn.shared ??= structuredClone({ public: turn.record.public.shared, private: turn.record.private.shared })
  return turn.shared
}

/** Makes a frame's data free to edit. */
export function draft(frame: OpenFrame): void {
  if (frame.drafted) return
  frame.data = structuredClone(frame.data)
  if (frame.context.hidden) frame.hidden = structuredClone(frame.hidden)
  frame.drafted = true
  frame.kept = null
}

/** What the code of a context is handed. What is shared is copied only when it is asked for. */
export function momentOf(turn: Turn, frame: OpenFrame, given: InputData = {}): Moment {
  return {
    ...given,
    data: frame.data,
    hidden: frame.hidden,
    get shared() {
      return frame.context.shared ? sharedDraft(turn) : undefined
    },
    now: turn.now,
    state: frame.state,
    say: (text) => say(turn, text, frame),
    reveal: (value) => {
      turn.revealed.push(value)
      return value
    },
  }
}

/** Runs a context's code. Throws `handler-failed` for what it throws, and for a promise: rules are synchronous. */
export function runCode<T>(frame: OpenFrame, what: string, run: () => T): T {
  let value: T
  try {
    value = run()
  } catch (cause) {
    if (ContextError.is(cause, 'handler-failed')) throw cause
    const why = cause instanceof Error ? cause.message.replace(/\.$/, '') : cause
    throw failed(`${what} of ${frame.context.name} threw: ${why}`, { cause })
  }
  if (value instanceof Promise) {
    value.catch(() => {})
    throw failed(`${what} of ${frame.context.name} is asynchronous, and the code of a context answers at once`)
  }
  return value
}

/** Tells the user something. Throws `handler-failed` past the bounds of the conversation. */
export function say(turn: Turn, text: string, frame: OpenFrame | null): void {
  const { count, length } = turn.rules.bounds.replies
  const who = frame ? frame.context.name : turn.rules.name
  if (typeof text !== 'string') throw failed(`${who} said ${typeof text}, and what is said is a text`)
  if (text.length > length)
    throw failed(`${who} said ${text.length} characters at once, and at most ${length} are told`)
  if (turn.replies.length >= count) throw failed(`${who} said more than ${count} things in one turn`)
  turn.replies.push({
    text: text.toWellFormed(),
    context: frame?.context.name ?? null,
    frame: frame?.id ?? null,
  })
}
