import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { renderMetric } from '@episodic/mcp-server/internal'
import { invalidOption } from '@episodic/run/base/harness-error'
import { oneAtATime } from '@episodic/run/base/one-at-a-time'
import { renderQueueMetrics } from './queue-metrics.ts'
import type { RunQueue } from './run-queue.ts'

export type MetricsServer = Awaited<ReturnType<typeof serveMetrics>>

/** Milliseconds after which a queue counts as away. */
const TIMEOUT = 2_000

/**
 * Serves what is in a queue: `/metrics` for Prometheus, `/healthz`, which answers `ok` while this process lives, and
 * `/readyz`, which answers 503 while the queue cannot be written. Needs no token: neither names nor contents of runs
 * are in it.
 *
 * Rejects with `option-invalid` if it cannot listen there.
 */
export async function serveMetrics(
  queue: Pick<RunQueue, 'status' | 'checkWritable'>,
  { port, address }: { readonly port: number; readonly address: string },
) {
  // Anyone can ask, so one question goes to the queue at a time.
  const metrics = oneAtATime(() => readMetrics(queue))
  // A Redis that is full is waited for: the next question waits for the same write.
  const write = oneAtATime(() => queue.checkWritable())
  const ready = () => inTime(write().then(() => 'ok\n'))
  // Loaded here: it takes longer than Node's own start, and few runs are monitored.
  const { createServer } = await import('node:http')
  const server = createServer(async ({ method, url }, response) => {
    const answer = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text)
    if (method !== 'GET' && method !== 'HEAD') return answer(405, 'method-not-allowed\n')
    if (url === '/healthz') return answer(200, 'ok\n')
    if (url !== '/metrics' && url !== '/readyz') return answer(404, 'not-found\n')
    const text = await (url === '/metrics' ? metrics() : ready())
    return text === null ? answer(503, 'queue-unavailable\n') : answer(200, text)
  })
  await listen(server, port, address)
  const { port: opened } = server.address() as AddressInfo
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${opened}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function inTime<T>(answer: Promise<T>): Promise<T | null> {
  return Promise.race([answer.catch(() => null), setTimeout(TIMEOUT, null, { ref: false })])
}

async function readMetrics(queue: Pick<RunQueue, 'status'>): Promise<string | null> {
  const status = await inTime(queue.status())
  if (!status) return null
  const { user, system } = process.cpuUsage()
  const seconds = (user + system) / 1_000_000
  return (
    renderQueueMetrics(status) +
    renderMetric('process_cpu_seconds_total', 'counter', 'Seconds of processor time.', [[{}, seconds]])
  )
}

async function listen(server: Server, port: number, address: string): Promise<void> {
  try {
    server.listen(port, address)
    await once(server, 'listening')
  } catch (cause) {
    throw invalidOption(
      `--metrics-port ${port} cannot be opened at ${address}: ${(cause as Error).message}. Give another port, or another --metrics-address.`,
      { cause },
    )
  }
}
