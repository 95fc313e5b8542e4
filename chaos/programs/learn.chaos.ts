/**
 * A learner over a bad connection to a server that is killed again and again, and which is killed itself: its
 * parameters are those of a training that nothing disturbed, bit for bit, after every batch.
 *
 *   pnpm chaos learn --every 30      kills the server every 30 seconds, and not after so many replies
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import type { Rng } from '@episodic/protocol'
import {
  createActor,
  createRollouts,
  fingerprint,
  HYPERPARAMETERS,
  learn,
  openNetwork,
  playHeldOut,
  readCheckpoint,
  type TrainingState,
  WORLDS,
} from '@episodic-example/training'
import { startProxy } from '../network/proxy.ts'
import { drawFates, STORM } from '../network/weather.ts'
import type { LearnerLine } from '../players/learner.ts'
import { type Server, startServer } from '../processes/server.ts'
import { startProcess } from '../processes/start-process.ts'
import { openStore } from '../processes/store.ts'
import { runTrial } from '../trial.ts'

const LEARNER = fileURLToPath(new URL('../players/learner.ts', import.meta.url))
const LAKE = fileURLToPath(import.meta.resolve('@episodic/classics/frozen-lake'))

await runTrial(
  'learn',
  { store: 'sqlite', episodes: '4000', kills: '10', every: '' },
  async ({ rng, seed, quick, options, folder, stack }) => {
    const episodes = quick ? 128 : Number(options.episodes)
    /** Held-out episodes of the scores at the end. */
    const evaluated = quick ? 64 : 1_000
    const kills = quick ? 2 : Number(options.kills)
    const world = WORLDS['frozen-lake']
    const settings = { ...HYPERPARAMETERS['frozen-lake'].ppo, episodes }
    const host = stack.use(createHost({ environments: [world.environment] }))
    const rollouts = stack.use(createRollouts(stack.use(await connect(inProcess(host))), world, settings))

    // What nothing disturbs.
    const undisturbed: number[] = []
    const states = new Map<number, TrainingState>()
    let state: TrainingState | undefined
    let steps = 0
    for await (const { state: next, rollout } of learn({ world, rollouts, settings, seed })) {
      state = next
      states.set(next.played, next)
      steps += rollout.steps
      undisturbed.push(rollout.trajectories.reduce((sum, trajectory) => sum + trajectory.return, 0) / settings.batch)
    }
    const expected = state as TrainingState

    const store = stack.use(await openStore(options.store, folder))
    const args = ['--store', store.address, '--idle', '86400']
    const server = stack.use(await startServer({ folder, world: LAKE, args }))
    const disturb = { episodes, kills, steps, seed, folder, seconds: Number(options.every) }
    const faithful = await train(server, rng.stream('faithful'), disturb)

    const network = await openNetwork({ inputs: world.inputs, hidden: settings.hidden, actions: world.actions.length })
    const actor = createActor(network, expected.parameters)
    const { return: success } = await playHeldOut(rollouts, actor, { episodes: evaluated, batch: settings.batch })
    const expectedHash = fingerprint(expected.parameters)
    const found = fingerprint(faithful.state.parameters)
    const differing = faithful.returns.filter((one, batch) => one !== undisturbed[batch]).length
    const other = [...states].filter(([played, one]) => fingerprint(one.parameters) !== faithful.hashes.get(played))
    const breaches: string[] = []
    if (other.length > 0) breaches.push(`After ${other.length} batches the parameters were others than without faults.`)
    if (found !== expectedHash)
      breaches.push(`The parameters are ${found}, and without faults they are ${expectedHash}.`)
    if (differing > 0) breaches.push(`${differing} batches had other returns than without faults.`)
    if (faithful.kills === 0 || faithful.workerKills === 0 || faithful.lost === 0)
      breaches.push('Too few faults: no server or no learner was killed, or no message was lost.')
    return {
      breaches,
      figures: {
        episodes,
        steps,
        parameters: expectedHash,
        equal: found === expectedHash,
        differing,
        ...faultsOf(faithful),
        success,
      },
    }
  },
)

interface Trained {
  readonly state: TrainingState
  /** The mean returns of the batches, in their order. */
  readonly returns: readonly number[]
  /** The SHA-256 of the parameters, by the number of episodes that had been learned from. */
  readonly hashes: ReadonlyMap<number, string>
  readonly kills: number
  readonly workerKills: number
  /** Requests and replies that the network lost. */
  readonly lost: number
  readonly failures: number
}

/**
 * Trains with a learner in a process of its own. It and its server are killed, and the network between them loses
 * messages.
 */
async function train(
  server: Server,
  rng: Rng,
  disturb: {
    readonly episodes: number
    readonly kills: number
    readonly steps: number
    readonly seed: string
    readonly folder: string
    /** Seconds between two kills of the server; 0: kills follow from the number of replies. */
    readonly seconds: number
  },
): Promise<Trained> {
  const { episodes, kills, steps, seed, folder, seconds } = disturb
  // Kills come after so many replies unless asked otherwise, not after so much time: a slow machine gets as many.
  const distance = steps / (kills + 1)
  let replies = 0
  let striking: Promise<void> | null = null
  const began = performance.now()
  const isDue = () =>
    seconds > 0
      ? performance.now() - began >= 1_000 * seconds * (server.kills + 1)
      : server.kills < kills && replies >= distance * (server.kills + 1)
  const strike = () => {
    replies += 1
    if (striking || !isDue()) return
    striking = server.restart().finally(() => {
      striking = null
    })
  }
  const fate = drawFates(rng.stream('weather'), STORM)
  await using proxy = await startProxy(server.port, { fate, onExchange: strike })
  const checkpoint = join(folder, 'checkpoint')
  const url = `http://127.0.0.1:${proxy.port}/env`
  const launch = () =>
    startProcess(process.execPath, [LEARNER, url, server.token, checkpoint, String(episodes), seed], {
      env: { NODE_COMPILE_CACHE: `${folder}/compiled` },
    })

  const returns = new Map<number, number>()
  const hashes = new Map<number, string>()
  const [workerKills, counts] = [rng.stream('workers'), { failures: 0, killed: 0 }]
  // A learner is killed as often as half of the servers, at least once: somewhere in the batch after the one that is
  // drawn.
  const wanted = Math.max(1, Math.floor(kills / 2))
  const due = Array.from({ length: wanted }, () => workerKills.int(1, Math.floor(episodes * 0.8))).sort((a, b) => a - b)
  for (let played = 0; played < episodes; ) {
    await using learner = launch()
    while (played < episodes) {
      const line = JSON.parse(await learner.line()) as LearnerLine
      played = line.played
      returns.set(played, line.return)
      hashes.set(played, line.parameters)
      counts.failures += line.failures
      if (played < (due[0] ?? Number.POSITIVE_INFINITY)) continue
      due.shift()
      counts.killed += 1
      break
    }
  }
  await striking
  await proxy.settled()
  const { fates } = proxy
  return {
    state: readCheckpoint(checkpoint) as TrainingState,
    hashes,
    returns: [...returns].sort(([a], [b]) => a - b).map(([, mean]) => mean),
    kills: server.kills,
    workerKills: counts.killed,
    lost: (fates['request-lost'] ?? 0) + (fates['reply-lost'] ?? 0),
    failures: counts.failures,
  }
}

function faultsOf({ kills, workerKills, lost, failures }: Trained) {
  return { kills, workerKills, lost, failures }
}
