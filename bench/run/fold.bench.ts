/**
 * Memory of a run: episodes in process, folded as they land, and what is kept after 100,000 beside what is kept after
 * 20,000.
 */

import { connect } from '@episodic/env'
import { createFold, runEpisodes } from '@episodic/harness'
import { createHost, inProcess } from '@episodic/mcp-server'
import { environment, solver } from '@episodic-world/number-guessing'
import { heldBytes, mebibytes, report } from '../figures.ts'
import { taskNumbered } from './guessing-task.ts'

const EPISODES = 100_000
/** Episodes after which the run is in full swing: code is compiled, and what is made once is made. */
const SWING = 20_000
/**
 * Bytes of heap and buffers that may be kept for each episode from there on: some of its figures, and nothing of its
 * steps.
 */
const CEILING = 128

await using host = createHost({ environments: [environment] })
await using connection = await connect(inProcess(host))
const fold = createFold()

async function* plan(from: number, to: number) {
  for (let i = from; i < to; i++) yield { task: taskNumbered(i), attempt: 0 }
}

const play = (from: number, to: number) =>
  runEpisodes(plan(from, to), {
    run: 'fold',
    createEnvironment: () => connection.environment(),
    policy: solver,
    seed: '0',
    discount: 1,
    concurrency: 64,
    seal: async (record) => fold.add(record),
  })

await play(0, SWING)
const swing = heldBytes()
const began = performance.now()
await play(SWING, EPISODES)
const seconds = (performance.now() - began) / 1_000
const end = heldBytes()
const { counts } = fold.finish({ name: 'fold', scheduled: EPISODES })
const bytesPerEpisode = Math.round((end.heap - swing.heap) / (EPISODES - SWING))
report('fold', {
  ok: bytesPerEpisode <= CEILING && counts.finished === EPISODES,
  episodes: counts.finished,
  bytesPerEpisode,
  mebibytes: { swing: mebibytes(swing.heap), end: mebibytes(end.heap) },
  // With what the collector keeps for itself, which is another amount in every run.
  residentMebibytes: { swing: mebibytes(swing.resident), end: mebibytes(end.resident) },
  episodesPerSecond: Math.round((EPISODES - SWING) / seconds),
})
