import { pause } from '@episodic/protocol/extend'
import type { SSEStreamingApi } from 'hono/streaming'
import { chunksOf } from './answer-chunks.ts'
import type { CallAnswer } from './call-answer.ts'
import type { CallStream } from './ors-session.ts'

/** Milliseconds between two comments on a stream that has nothing to say. A client hangs up after 30 s of silence. */
const SILENCE = 10_000

/** Returns the stream of one call: the event `task_id`, then `chunk`s, and an `end` that completes the answer. */
export function createCallStream(stream: SSEStreamingApi): CallStream {
  return {
    async announce(taskId) {
      await stream.writeSSE({ event: 'task_id', data: taskId })
      return !stream.aborted
    },
    async deliver(answer: CallAnswer) {
      const chunks = chunksOf(JSON.stringify(answer))
      for (const [place, data] of chunks.entries())
        await stream.writeSSE({ event: place === chunks.length - 1 ? 'end' : 'chunk', data })
      return !stream.aborted
    },
  }
}

/** Sends comments until the work is done, so that the client knows that the server still works on it. */
export async function keepAliveDuring(stream: SSEStreamingApi, work: Promise<void>): Promise<void> {
  const done = new AbortController()
  const comments = sendComments(stream, done.signal)
  try {
    await work
  } finally {
    done.abort()
    await comments
  }
}

async function sendComments(stream: SSEStreamingApi, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      await pause(SILENCE, signal)
      await stream.write(': waiting\n\n')
    }
  } catch {
    // The work is done, or the client has gone.
  }
}
