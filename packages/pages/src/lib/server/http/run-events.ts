import type { ServerResponse } from 'node:http'
import type { ViewedRuns } from '../folder/viewed-runs.ts'
import { HttpProblem } from '../http-problem.ts'
import { begin, type Exchange } from './answer.ts'

/** Milliseconds in which a run has one event, however often it changes. */
const INTERVAL = 250
/** Streams at once: a browser has one for all of its tabs. */
const MOST_CLIENTS = 64
/** Milliseconds after which a silent connection gets a comment, so that nothing on the way closes it. */
const HEARTBEAT = 15_000
/** Bytes that a client may leave unread before its connection is closed. It connects again, and asks for all anew. */
const MOST_UNREAD = 1024 ** 2

/** Creates the stream of events for each client: `run`, with the id of a run that has changed. */
export function createRunEvents(runs: ViewedRuns) {
  const clients = new Set<ServerResponse>()
  const waiting = new Set<string>()
  const schedule = (id: string) => {
    if (waiting.has(id)) return
    waiting.add(id)
    setTimeout(() => {
      waiting.delete(id)
      for (const client of clients) {
        if (client.writableLength > MOST_UNREAD) client.destroy()
        else client.write(`event: run\ndata: ${JSON.stringify(id)}\n\n`)
      }
    }, INTERVAL).unref()
  }
  let stop: (() => void) | null = null
  /** Answers with a stream that ends with the request. */
  return async ({ response, signal }: Exchange): Promise<void> => {
    if (clients.size >= MOST_CLIENTS)
      throw new HttpProblem('busy', `This server follows runs for ${MOST_CLIENTS} browsers already. Close some.`)
    begin(response, 200, { 'content-type': 'text/event-stream' })
    response.write(': events of runs\n\n')
    clients.add(response)
    stop ??= runs.listen((run) => schedule(run.found.id))
    const heartbeat = setInterval(() => response.write(': still there\n\n'), HEARTBEAT)
    signal.addEventListener('abort', () => {
      clearInterval(heartbeat)
      clients.delete(response)
      if (clients.size > 0) return
      stop?.()
      stop = null
    })
  }
}
