/** Steps over HTTP on durable stores, beside the memory store: steps a second, and steps for the server's own CPU. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { META, type OpenResult } from '@episodic/protocol'
import { startRedis } from '../../chaos/processes/redis.ts'
import { type Child, startChild } from '../child.ts'
import { inTurn, median, ratio, report } from '../figures.ts'
import { drive } from '../http-load.ts'
import { needProgram } from '../needs.ts'
import { addBody, authorize, type Endpoint, openSession } from '../trainer-endpoint.ts'

const SESSIONS = 100
const CONNECTIONS = 32
const CALLS = 10_000
const FLOOR = 0.5

needProgram('redis-server')
const folder = mkdtempSync(join(tmpdir(), 'episodic-bench-'))
try {
  await using redis = await startRedis(join(folder, 'redis'))
  using memory = await startChild<Endpoint>('servers/counter-server.ts')
  using sqlite = await startChild<Endpoint>('servers/counter-server.ts', `sqlite:${join(folder, 'sessions.db')}`)
  using shared = await startChild<Endpoint>('servers/counter-server.ts', redis.url)
  const loads = { memory: await prepare(memory), sqlite: await prepare(sqlite), redis: await prepare(shared) }

  const rates = await inTurn(5, { memory: loads.memory.run, sqlite: loads.sqlite.run, redis: loads.redis.run })
  const cpu = { memory: loads.memory.cpu(), sqlite: loads.sqlite.cpu(), redis: loads.redis.cpu() }
  const sqliteToMemory = ratio(rates.sqlite, rates.memory)
  // Redis has a CPU of its own, which on a small machine is one that the server wanted.
  const redisToMemory = ratio(cpu.memory, cpu.redis)
  report('durability', {
    ok: sqliteToMemory >= FLOOR && redisToMemory >= FLOOR,
    memoryPerSecond: Math.round(median(rates.memory)),
    sqlitePerSecond: Math.round(median(rates.sqlite)),
    redisPerSecond: Math.round(median(rates.redis)),
    ratio: sqliteToMemory,
    redisRatioByCpu: redisToMemory,
    redisRatioBySeconds: ratio(rates.redis, rates.memory),
    microsecondsPerStep: { memory: micro(cpu.memory), sqlite: micro(cpu.sqlite), redis: micro(cpu.redis) },
    sqliteAddsMicroseconds: micro(cpu.sqlite) - micro(cpu.memory),
    redisAddsMicroseconds: micro(cpu.redis) - micro(cpu.memory),
  })
} finally {
  rmSync(folder, { recursive: true, maxRetries: 3 })
}

/**
 * Opens sessions on a server; `run` plays on them, and `cpu` gives the server's seconds of CPU for a step, round by
 * round.
 */
async function prepare(server: Child<Endpoint>): Promise<{ run: () => Promise<number>; cpu: () => number[] }> {
  const { port } = server.ready
  const headers = authorize(server.ready)
  const sessions: OpenResult[] = []
  for (let id = 0; id < SESSIONS; id++)
    sessions.push(await openSession(server.ready, 'counter', `durability-benchmark-${id}`))
  let calls = 0
  const body = () => {
    const { session } = sessions[calls % SESSIONS] as OpenResult
    return addBody(calls++, { [META.session]: session })
  }
  const used: number[] = []
  return {
    async run() {
      const before = await server.ask<{ seconds: number }>('cpu')
      const rate = await drive({ port, path: () => '/env', headers, body, connections: CONNECTIONS, calls: CALLS })
      const after = await server.ask<{ seconds: number }>('cpu')
      used.push((after.seconds - before.seconds) / CALLS)
      return rate
    },
    // The first round warms up, as that of the rates does.
    cpu: () => used.slice(1),
  }
}

function micro(seconds: readonly number[]): number {
  return Math.round(median(seconds) * 1_000_000)
}
