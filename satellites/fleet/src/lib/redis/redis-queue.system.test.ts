import { connect, createServer, type Server, type Socket } from 'node:net'
import { startRedis } from '@episodic/run/base/programs.fixture'
import { Redis } from 'ioredis'
import { afterAll, vi } from 'vitest'
import { describeRunQueue, type QueueUnderTest } from '../describe-run-queue.fixture.ts'
import type { RunQueue } from '../run-queue.ts'
import { openRedisQueue } from './open-redis-queue.ts'

const redis = await startRedis()
const admin = new Redis(redis.url)
afterAll(async () => {
  admin.disconnect()
  await redis[Symbol.asyncDispose]()
})

/** Milliseconds: longer than a busy machine keeps this process waiting. */
const SHORT = 3_000
const LONG = 120_000

/** A relay to Redis that can be cut: each queue has one of its own. */
async function openRelay(): Promise<{ readonly url: string; cut(): () => void; readonly server: Server }> {
  const { port } = new URL(redis.url)
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((inner) => {
    const outer = connect(Number(port), '127.0.0.1')
    for (const [socket, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(socket)
      socket.on('data', (data) => other.write(data)).on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      if (isCut) socket.pause()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port: own } = server.address() as { port: number }
  return {
    url: `redis://127.0.0.1:${own}`,
    server,
    cut() {
      isCut = true
      for (const socket of sockets) socket.pause()
      return () => {
        isCut = false
        for (const socket of sockets) socket.resume()
      }
    },
  }
}

async function start(): Promise<QueueUnderTest> {
  const relays = new Map<RunQueue, Awaited<ReturnType<typeof openRelay>>>()
  return {
    async open(lease) {
      const relay = await openRelay()
      const queue = await openRedisQueue(relay.url, { lease: lease === 'short' ? SHORT : LONG })
      relays.set(queue, relay)
      return queue
    },
    until: (condition) =>
      vi.waitFor(
        async () => {
          if (!(await condition())) throw new Error('It did not come about.')
        },
        { timeout: 15 * SHORT, interval: 20 },
      ),
    cut: (queue) => (relays.get(queue) as { cut(): () => void }).cut(),
    async clear() {
      for (const { server } of relays.values()) server.close()
      relays.clear()
      await admin.flushall()
    },
  }
}

describeRunQueue('Redis', start)
