import type { InterpretRequest } from './interpreter.ts'

/** Monday, 5 January 2026, at nine in the evening. */
export const MONDAY = Date.UTC(2026, 0, 5, 21)

/** A request with nothing open and nothing said before. */
export function requestOf(text: string, given: Partial<InterpretRequest> = {}): InterpretRequest {
  return {
    text,
    now: MONDAY,
    active: null,
    open: [],
    accepted: [],
    intents: [],
    history: [],
    summary: '',
    question: null,
    signal: new AbortController().signal,
    ...given,
  }
}

/** What was said before, and what it was taken for. */
export function earlier(intent: string, slots: InterpretRequest['history'][number]['slots']) {
  return { turn: 1, now: MONDAY, kind: 'utterance', text: '…', intent, slots, context: null, replies: [] } as const
}
