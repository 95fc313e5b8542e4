/**
 * Thousands of episodes at once whose policies think between steps, as models do: whether all succeed, and how long a
 * step takes while the others are in flight. What is judged is the CPU that a step costs the server, which is a process
 * of its own, beside 256 episodes that think so briefly that as many steps are taken in a second.
 */
import { setTimeout as think } from 'node:timers/promises'
import { type Connection, connect } from '@episodic/env'
import { createRng } from '@episodic/protocol'
import { startChild } from '../child.ts'
import { report, round2 } from '../figures.ts'

const STEPS = 5
/**
 * How much more CPU of the server a step may cost with thousands of episodes than with 256, opening and closing
 * included.
 */
const CEILING = 1.5

interface Crowd {
  readonly episodes: number
  readonly failed: number
  readonly p50: number
  readonly p99: number
  readonly seconds: number
  /** Of the server's CPU. */
  readonly microsecondsPerStep: number
}

/** Plays as many episodes at once, each of whose steps follows on a think time in milliseconds. */
async function crowd(connection: Connection, episodes: number, thinkTime: readonly [number, number]): Promise<Crowd> {
  const took: number[] = []
  const usedBefore = await cpu()
  const began = performance.now()
  const played = await Promise.allSettled(
    Array.from({ length: episodes }, async (_, i) => {
      const rng = createRng(`crowd-${episodes}-${i}`)
      // They don't begin in one instant, as no run's do.
      await think(rng.float() * thinkTime[0])
      const environment = connection.environment()
      await environment.reset({ seed: `${i}` })
      for (let step = 0; step < STEPS; step++) {
        await think(thinkTime[0] + rng.float() * (thinkTime[1] - thinkTime[0]))
        const sent = performance.now()
        await environment.step({ tool: 'add', arguments: { note: 'a short note', n: step } })
        took.push(performance.now() - sent)
      }
      await environment.close()
    }),
  )
  took.sort((a, b) => a - b)
  const quantile = (q: number) => round2(took[Math.floor(q * (took.length - 1))] ?? Number.POSITIVE_INFINITY)
  const failures = played.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
  if (failures[0]) console.error(`  a failure: ${failures[0].reason}`)
  const seconds = round2((performance.now() - began) / 1_000)
  const microsecondsPerStep = Math.round((((await cpu()) - usedBefore) * 1e6) / took.length)
  const found = {
    episodes,
    failed: failures.length,
    p50: quantile(0.5),
    p99: quantile(0.99),
    seconds,
    microsecondsPerStep,
  }
  console.error(`  ${JSON.stringify(found)}`)
  return found
}

using server = await startChild<{ trainerUrl: string; token: string }>('servers/counter-server.ts')
const { trainerUrl: url, token } = server.ready
const cpu = async () => (await server.ask<{ seconds: number }>('cpu')).seconds
await using connection = await connect({ url, token })
// The first is for code to be compiled.
await crowd(connection, 256, [100, 200])
const few = await crowd(connection, 256, [100, 200])
const brisk = await crowd(connection, 2_048, [1_000, 2_000])
const slow = await crowd(connection, 10_000, [10_000, 10_000])
const toFew = {
  brisk: round2(brisk.microsecondsPerStep / few.microsecondsPerStep),
  slow: round2(slow.microsecondsPerStep / few.microsecondsPerStep),
}
report('episodes', {
  ok: [few, brisk, slow].every(({ failed }) => failed === 0) && Math.max(toFew.brisk, toFew.slow) <= CEILING,
  toFew,
  few,
  brisk,
  slow,
})
