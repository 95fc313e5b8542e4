import { pause } from '@episodic/protocol/internal'
import { chunksOf } from './answer-chunks.ts'
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
