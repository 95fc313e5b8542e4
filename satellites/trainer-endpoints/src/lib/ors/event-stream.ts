import type { ServerResponse } from 'node:http'

export interface EventStream {
  /** Resolves once the event has left this process, so that no crash takes it back; with false for a gone client. */
  send(event: string, data: string): Promise<boolean>
  /** Sends a comment, so that the client sees that the server still works. */
  comment(text: string): void
  end(): void
}

export function openEventStream(response: ServerResponse): EventStream {
  const gone = new Promise<false>((resolve) => response.once('close', () => resolve(false)))
  // A client that has gone is no error.
  response.on('error', () => {})
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' })
  return {
    send(event, data) {
      const sent = new Promise<boolean>((resolve) =>
        response.write(`event: ${event}\ndata: ${data}\n\n`, (error) => resolve(!error)),
      )
      return Promise.race([sent, gone])
    },
    comment: (text) => void response.write(`: ${text}\n\n`),
    end: () => void response.end(),
  }
}
