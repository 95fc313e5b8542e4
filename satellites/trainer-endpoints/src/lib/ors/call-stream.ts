import { pause } from '@episodic/protocol/internal'
import type { CallAnswer } from './call-answer.ts'
import type { EventStream } from './event-stream.ts'
import type { CallStream } from './ors-session.ts'

/** Milliseconds between two comments on a stream that has nothing to say. A client hangs up after 30 s of silence. */
const SILENCE = 10_000

/** Returns the stream of one call: the event `task_id`, then `chunk`s, and an `end` that completes the answer. */
export function createCallStream(stream: EventStream): CallStream {
  return {
    announce: (taskId) => stream.send('task_id', taskId),
    async deliver(answer: CallAnswer) {
      const chunks = chunksOf(JSON.stringify(answer))
      let arrives = true
      for (const [place, data] of chunks.entries())
        arrives = await stream.send(place === chunks.length - 1 ? 'end' : 'chunk', data)
      return arrives
    },
  }
}

/** Sends comments until the work is done, so that the client knows that the server still works on it. */
export async function keepAliveDuring(stream: EventStream, work: Promise<void>): Promise<void> {
  const done = new AbortController()
  const comments = sendComments(stream, done.signal)
  try {
    await work
  } finally {
    done.abort()
    await comments
  }
}

async function sendComments(stream: EventStream, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      await pause(SILENCE, signal)
      stream.comment('waiting')
    }
  } catch {
    // The work is done.
  }
}

/** Characters of one event, as OpenReward's own server sends. Its client refuses a line of more than 128 KiB. */
const CHUNK_LENGTH = 4_096

/**
 * Splits the JSON text of an answer into the data of its events, which a client joins before it parses them.
 *
 * The clients strip every space that a line of data starts with, not only the one after the colon. A chunk therefore
 * never starts with white space: inside a JSON string, the only place where compact JSON has any, it is escaped.
 */
export function chunksOf(json: string): string[] {
  const chunks: string[] = []
  for (let start = 0; start < json.length; ) {
    const end = boundaryBefore(json, start + CHUNK_LENGTH)
    chunks.push(json.slice(start, end).replace(LEADING_SPACE, escapeCharacter))
    start = end
  }
  return chunks
}

/** What Python's `str.lstrip` removes, except control characters, which JSON escapes. */
const LEADING_SPACE = /^[\s\u0085]/

function boundaryBefore(text: string, place: number): number {
  if (place >= text.length) return text.length
  return /[\uD800-\uDBFF]/.test(text.charAt(place - 1)) ? place - 1 : place
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
