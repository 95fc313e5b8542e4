import { setTimeout as pause } from 'node:timers/promises'
import { connect, createVectorEnvironment, EnvError, type Environment } from '@episodic/env'
import {
  createRollouts,
  fingerprint,
  HYPERPARAMETERS,
  learn,
  playEpisodes,
  type Rollouts,
  readCheckpoint,
  WORLDS,
  writeCheckpoint,
} from '@episodic-example/training'
import { createNaiveEnvironment } from './naive-environment.ts'

// A learner that is killed: `node learner.ts <url> <token, or "naive"> <checkpoint> <episodes> <seed>`. After each
// batch it writes its checkpoint, then a line of JSON; started again, it goes on from there.

/** A line that the learner writes after a batch. */
export interface LearnerLine {
  /** Episodes that it has learned from. */
  readonly played: number
  /** The SHA-256 of its parameters. */
  readonly parameters: string
  /** The mean return of the batch. */
  readonly return: number
  /** Episodes of the batch that failed, were no data and were played again. */
  readonly failures: number
  /** Of the client that retries without keys: episodes whose failure was a reward of 0. */
  readonly zeros: number
}

const [url = '', token = '', checkpoint = '', episodes = '', seed = ''] = process.argv.slice(2)
const world = WORLDS['frozen-lake']
const settings = { ...HYPERPARAMETERS['frozen-lake'].ppo, episodes: Number(episodes) }
const counts = { failures: 0, retries: 0 }

const rollouts = token === 'naive' ? createNaiveRollouts() : await createFaithfulRollouts()
for await (const { state, rollout } of learn({ world, rollouts, settings, seed, from: readCheckpoint(checkpoint) })) {
  // One for each batch, so that the curve can be drawn; then the one that it goes on from.
  writeCheckpoint(`${checkpoint}-${state.played}`, state)
  writeCheckpoint(checkpoint, state)
  const { trajectories, failures } = rollout
  const line: LearnerLine = {
    played: state.played,
    parameters: fingerprint(state.parameters),
    return: trajectories.reduce((sum, trajectory) => sum + trajectory.return, 0) / trajectories.length,
    failures,
    zeros: counts.failures,
  }
  counts.failures = 0
  console.log(JSON.stringify(line))
}
process.exit(0)

async function createFaithfulRollouts(): Promise<Rollouts> {
  // A server that is killed is back after a few seconds; on a machine that is busy, after many.
  const retry = { seconds: 120, attempts: 10_000 }
  for (let attempt = 1; ; attempt++)
    try {
      return createRollouts(await connect({ url, token }, { retry }), world, settings)
    } catch (error) {
      // The first contact is not retried, and the server may just have been killed.
      if (!EnvError.is(error, 'connection-failed') || attempt === 600) throw error
      await pause(200)
    }
}

function createNaiveRollouts(): Rollouts {
  const create = () => createNaiveEnvironment(url, counts) as Environment
  const vector = createVectorEnvironment(create, settings.batch)
  return {
    play: (actor, seeds) => playEpisodes(vector, world, actor, seeds),
    [Symbol.asyncDispose]: () => vector.close(),
  }
}
