/**
 * A run in a fleet, whose workers, coordinator and Redis are killed with `kill -9` while it is played, and of which one
 * worker is frozen for longer than its lease and wakes up: every episode is sealed once, none is lost, and its line is
 * that of a run in one process without faults.
 *
 * It is played on a Redis that syncs its file before each answer, and on one that syncs it once a second and may so
 * lose its last second: what the run has in its file is the same.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Summary, summarySchema } from '@episodic/harness'
import type { Rng } from '@episodic/protocol'
import { compareLines, LineCounter } from '../oracles/sealed-lines.ts'
import { type Account, type Fleet, playQuietly, readAccounts, startFleet } from '../processes/fleet-processes.ts'
import { type AppendSync, type Redis, startRedis } from '../processes/redis.ts'
import { runTrial } from '../trial.ts'
import { until } from '../until.ts'

type Fault = 'worker' | 'coordinator' | 'redis' | 'freeze'

const WORKERS = 3
const SLOTS = 16
/** Seconds of silence after which a process counts as ended. */
const LEASE = 2
/** Seconds that a run waits for its next episode at most. */
const STUCK = 120

await runTrial('fleet', {}, async ({ rng, quick, folder, stack }) => {
  const tasks = quick ? 200 : 5_000
  // For each way in which Redis syncs.
  const faults: Record<Fault, number> = quick
    ? { worker: 1, coordinator: 1, redis: 1, freeze: 1 }
    : { worker: 7, coordinator: 4, redis: 5, freeze: 1 }
  const quiet = join(folder, 'quiet', 'run')
  await playQuietly({ folder, out: quiet, tasks })

  const breaches: string[] = []
  const figures: Record<string, unknown> = {}
  const kills = { worker: 0, coordinator: 0, redis: 0 }
  for (const sync of ['always', 'everysec'] as const) {
    const found = await playUnderFaults({ sync, tasks, faults, rng: rng.stream(sync), folder, stack, quiet })
    breaches.push(...found.breaches.map((breach) => `With appendfsync ${sync}: ${breach}`))
    figures[sync] = found.figures
    for (const kind of ['worker', 'coordinator', 'redis'] as const) kills[kind] += faults[kind]
  }
  return {
    breaches,
    figures: {
      episodes: tasks,
      workers: WORKERS,
      kills: kills.worker + kills.coordinator + kills.redis,
      killed: kills,
      ...figures,
    },
  }
})

interface Conditions {
  readonly sync: AppendSync
  readonly tasks: number
  readonly faults: Readonly<Record<Fault, number>>
  readonly rng: Rng
  readonly folder: string
  readonly stack: AsyncDisposableStack
  /** The folder of the run without faults. */
  readonly quiet: string
}

async function playUnderFaults({ sync, tasks, faults, rng, folder, stack, quiet }: Conditions) {
  const redis = stack.use(await startRedis(join(folder, `redis-${sync}`), sync))
  const out = join(folder, sync, 'run')
  mkdirSync(join(folder, sync))
  const options = { queue: redis.url, folder, out, tasks, workers: WORKERS, slots: SLOTS, lease: LEASE }
  const fleet = stack.use(await startFleet(options))
  const sealed = new LineCounter(join(out, 'episodes.jsonl'))

  const breaches: string[] = []
  let account: Account | undefined
  let before = 0
  const planned = rng.shuffle(
    (Object.keys(faults) as Fault[]).flatMap((fault) => Array<Fault>(faults[fault]).fill(fault)),
  )
  for (const [index, fault] of planned.entries()) {
    // Faults come after so many episodes, not after so much time: a slow machine gets as many.
    const due = ((index + 1) * tasks) / (planned.length + 1)
    // One more than at the last fault, so that a coordinator that was started again has found Redis before it is
    // killed.
    const least = Math.min(tasks, Math.max(due, before + 1))
    await until(() => sealed.count() >= least, `${least} episodes are sealed with appendfsync ${sync}`, STUCK)
    const counted = await strike(fault, { fleet, redis, rng })
    account = counted ?? account
    before = sealed.count()
    // Redis may lose its last second with `everysec`, and the counts of the plays after it stay.
    if (counted && sync === 'always') breaches.push(...breachesOfAccount(counted))
  }

  const summary = summarySchema.parse(JSON.parse(await fleet.coordinator.line()))
  const status = await fleet.coordinator.exited
  const lines = compareLines(join(out, 'episodes.jsonl'), join(quiet, 'episodes.jsonl'))
  breaches.push(...breachesOf(summary, tasks))
  const left = await readAccounts(options)
  if (left.length > 0) breaches.push(`The run is over, and the queue has not forgotten it: ${JSON.stringify(left)}.`)
  if (status !== 0) breaches.push(`The last coordinator ended with ${status}: ${fleet.coordinator.said}`)
  for (const [kind, count] of Object.entries(lines)) if (count > 0) breaches.push(`${count} episodes are ${kind}.`)
  return {
    breaches,
    figures: {
      ...lines,
      scheduled: summary.counts.scheduled,
      finished: summary.counts.finished,
      // By the queue, when the last coordinator was killed.
      playsLost: account?.lost ?? 0,
      resultsDropped: account?.fenced ?? 0,
    },
  }
}

/** Resolves with the account of the run, if its coordinator was killed. */
async function strike(
  fault: Fault,
  { fleet, redis, rng }: { readonly fleet: Fleet; readonly redis: Redis; readonly rng: Rng },
): Promise<Account | undefined> {
  const index = rng.int(0, WORKERS - 1)
  // In the middle of whatever the processes do at the moment.
  await pause(rng.int(0, 100))
  if (fault === 'coordinator') return fleet.restartCoordinator()
  if (fault === 'worker') await fleet.restartWorker(index)
  else if (fault === 'redis') {
    await redis.kill()
    await pause(rng.int(0, 1_000))
    await redis.start()
  } else {
    const frozen = fleet.workers[index]
    frozen?.signal('SIGSTOP')
    // Its episodes are played by others meanwhile.
    await pause(2.5 * LEASE * 1_000)
    frozen?.signal('SIGCONT')
  }
}

function* breachesOfAccount({ added, sealed, withdrawn, open }: Account): Generator<string> {
  if (added !== sealed + withdrawn + open)
    yield `The queue counts ${added} episodes, and ${sealed} sealed, ${withdrawn} withdrawn and ${open} open.`
}

function* breachesOf({ counts, failures }: Summary, tasks: number): Generator<string> {
  const { scheduled, finished, failed, unresolved } = counts
  if (scheduled !== tasks) yield `${scheduled} episodes were scheduled of ${tasks}.`
  if (finished + failed + unresolved !== scheduled)
    yield `${finished} finished, ${failed} failed and ${unresolved} unresolved episodes are not the ${scheduled} scheduled.`
  if (finished !== tasks) yield `${finished} of ${tasks} episodes finished: ${JSON.stringify(failures)}.`
}
