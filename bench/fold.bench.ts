/** Memory of a run: 100,000 episodes in process, folded as they land. */

import { openConnection } from '@episodic/env'
import { createFold, playEpisodes } from '@episodic/harness'
import { createHost, openInProcess } from '@episodic/mcp-server'
import { environment, solver } from '@episodic-world/number-guessing'
import { mebibytes, report } from './figures.ts'
import { taskNumbered } from './guessing-task.ts'

const EPISODES = 100_000
const SWING = 20_000
const CEILING = 64

await using host = createHost({ environments: [environment] })
await using connection = await openConnection(openInProcess(host))
const fold = createFold()

async function* plan(from: number, to: number) {
  for (let i = from; i < to; i++) yield { task: taskNumbered(i), attempt: 0 }
}

const play = (from: number, to: number) =>
  playEpisodes(plan(from, to), {
    run: 'fold',
    createEnvironment: () => connection.environment(),
    policy: solver,
    seed: '0',
    discount: 1,
    concurrency: 64,
    seal: async (record) => fold.add(record),
  })

const kept = () => {
  for (let i = 0; i < 3; i++) globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed + external, resident: rss }
}

// What is kept is counted from the very start. Resident memory is counted from where the run is in full swing: until
// then a heap grows into the room that the collector takes for itself, whatever is kept.
const start = kept()
await play(0, SWING)
const swing = kept()
const began = performance.now()
await play(SWING, EPISODES)
const seconds = (performance.now() - began) / 1_000
const end = kept()
const { counts } = fold.finish({ name: 'fold', scheduled: EPISODES })
const bytesPerEpisode = Math.round((end.heap - swing.heap) / (EPISODES - SWING))
const above = mebibytes(end.heap - start.heap)
const residentAbove = mebibytes(end.resident - swing.resident)
report('fold', {
  ok: above <= CEILING && residentAbove <= CEILING && bytesPerEpisode <= 128 && counts.finished === EPISODES,
  episodes: counts.finished,
  mebibytes: above,
  residentMebibytes: residentAbove,
  bytesPerEpisode,
  episodesPerSecond: Math.round((EPISODES - SWING) / seconds),
  ratio: Math.round((above / CEILING) * 100) / 100,
})
