/** A million calls over HTTP: whether the server's heap at the end is what it was after the first of them. */
import { connect } from '@episodic/env'
import { startChild } from '../child.ts'
import { mebibytes, report, round2 } from '../figures.ts'

const CALLS = 1_000_000
const WARM_UP = 50_000
/** Calls of an episode: it is opened, stepped and closed, so what a session leaves behind would add up. */
const STEPS = 18
const IN_FLIGHT = 64
const CEILING = 1.05

using server = await startChild<{ trainerUrl: string; token: string }>('servers/counter-server.ts')
const { trainerUrl: url, token } = server.ready
await using connection = await connect({ url, token })

async function play(calls: number): Promise<void> {
  let left = calls
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, async () => {
      const environment = connection.environment()
      while (left > 0) {
        left -= STEPS + 2
        await environment.reset({})
        for (let n = 0; n < STEPS; n++)
          await environment.step({ tool: 'add', arguments: { note: 'a short note', n: n % 7 } })
        await environment.close()
      }
    }),
  )
}

const heap = async () => (await server.ask<{ heap: number }>('memory')).heap
await play(WARM_UP)
const before = await heap()
const heaps: number[] = []
const began = performance.now()
for (let played = WARM_UP; played < CALLS; played += (CALLS - WARM_UP) / 10) {
  await play((CALLS - WARM_UP) / 10)
  heaps.push(await heap())
  console.error(
    `  ${Math.round(played + (CALLS - WARM_UP) / 10).toLocaleString('en')} calls  ${mebibytes(heaps.at(-1) as number)} MiB`,
  )
}
const growth = round2((heaps.at(-1) as number) / before)
report('soak', {
  ok: growth <= CEILING,
  calls: CALLS,
  heapAtFirst: mebibytes(before),
  heapAtEnd: mebibytes(heaps.at(-1) as number),
  ratio: growth,
  callsPerSecond: Math.round((CALLS - WARM_UP) / ((performance.now() - began) / 1_000)),
})
