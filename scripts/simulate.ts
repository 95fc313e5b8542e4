/**
 * `pnpm simulate fleet [--episodes N] [--workers N] [--seed S]`: plays a run in a simulated fleet, with the real
 * coordinator and the real workers in virtual time, while they and the queue are killed, frozen and cut off. Ends with
 * one line of JSON, and with 1 if an episode was lost or doubled, or if memory or the load of the coordinator grew with
 * the run.
 */
import { parseArgs } from 'node:util'
import { simulateFleet } from '../chaos/fleet/simulate-fleet.ts'

const USAGE = `Usage: pnpm simulate fleet [options]

Plays a run in a simulated fleet, in virtual time, under faults that the seed draws. Ends with one line of JSON.

  --episodes <count>  episodes of the run (default: 10000000, about half an hour of CPU time)
  --workers <count>   workers of 8 slots (default: 1000)
  --seed <text>       all durations, losses and faults follow from it (default: 1)`

const { seed, episodes, workers } = readOptions()

const MINUTE = 60_000
/** Most that memory, or the calls for an episode, may grow from the second tenth of the run to the last but one. */
const GROWTH = 1.15

/** After each tenth of the episodes. */
interface Tenth {
  readonly seconds: number
  readonly mebibytes: number
  readonly microseconds: number
  readonly calls: number
}

const tenths: Tenth[] = []
let before = { cpu: cpu(), calls: 0 }
const began = performance.now()
const found = await simulateFleet({
  seed,
  episodes,
  workers,
  slots: 8,
  duration: 4_000,
  lease: 30_000,
  losses: 0.0001,
  faultsEvery: { worker: 60 * MINUTE, coordinator: 10 * MINUTE, queue: 10 * MINUTE },
  onTenth(tenth, { time, calls }) {
    globalThis.gc?.()
    const now = { cpu: cpu(), calls: calls.coordinator }
    const share = episodes / 10
    tenths.push({
      seconds: Math.round(time / 1_000),
      mebibytes: Math.round(process.memoryUsage().heapUsed / 2 ** 20),
      microseconds: Math.round((now.cpu - before.cpu) / share),
      calls: (now.calls - before.calls) / share,
    })
    before = now
    console.error(`  ${tenth}0 % of the episodes: ${JSON.stringify(tenths.at(-1))}`)
  },
})

const [early, late] = [tenths[1], tenths[8]] as [Tenth, Tenth]
const memory = late.mebibytes / early.mebibytes
const load = late.calls / early.calls
const ok = found.lost === 0 && found.doubled === 0 && memory <= GROWTH && load <= GROWTH
console.log(
  JSON.stringify({
    name: 'fleet',
    ok,
    seed,
    episodes,
    workers,
    ...found,
    virtualMinutes: Math.round(found.time / MINUTE),
    playsPerEpisode: found.plays / episodes,
    coordinatorCallsPerEpisode: found.calls.coordinator / episodes,
    growth: { memory: round2(memory), coordinatorCalls: round2(load) },
    tenths,
    seconds: Math.round((performance.now() - began) / 1_000),
  }),
)
// Processes that were simulated may still wait for something.
process.exit(ok ? 0 : 1)

/** Microseconds of CPU time that this process took. */
function cpu(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

function round2(value: number): number {
  return Math.round(value * 100) / 100
}

/** Reads the command line. Prints how to use it, and ends the process, if that is asked for or something is wrong. */
function readOptions(): { readonly seed: string; readonly episodes: number; readonly workers: number } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        seed: { type: 'string', default: '1' },
        episodes: { type: 'string', default: '10000000' },
        workers: { type: 'string', default: '1000' },
      },
    })
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    if (positionals.join(' ') !== 'fleet')
      throw new Error(`There is no simulation "${positionals.join(' ')}". There is: fleet.`)
    // Growth is measured from tenth to tenth of the run.
    const episodes = countOf('--episodes', values.episodes, 10)
    return { seed: values.seed, episodes, workers: countOf('--workers', values.workers, 1) }
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    process.exit(2)
  }
}

function countOf(option: string, text: string, least: number): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count >= least) return count
  throw new Error(`${option} ${text} is not a whole number of ${least} or more.`)
}
