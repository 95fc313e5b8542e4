import type { IncomingMessage } from 'node:http'
import { JsonBodies } from '@episodic/mcp-server/http'
import { BodyThread } from './body-thread.ts'

export type RowBodies = ReturnType<typeof createRowBodies>

/** Reads bodies that have a row in them, and a member with trajectories that may be much longer than the row. */
export function createRowBodies(bytes: number) {
  const thread = new BodyThread()
  const bodies = new JsonBodies(bytes)
  return {
    /**
     * Reads a body that has a row, whose `response` may have millions of values: the value has what is played of those.
     * Rejects with `too-large`, and as the job `row` throws.
     */
    async read(request: IncomingMessage) {
      return bodies.useText(request, async (text) => ({ text, value: await thread.run('row', text) }))
    },
    async summarize(request: IncomingMessage): Promise<string> {
      return bodies.useText(request, (text) => thread.run('metrics', text))
    },
    end(): void {
      void thread.end()
    },
  }
}
