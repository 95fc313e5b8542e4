import { setTimeout as pause } from 'node:timers/promises'
import { connect, EnvError } from '@episodic/env'
import {
  createRollouts,
  fingerprint,
  HYPERPARAMETERS,
  learn,
  type Rollouts,
  readCheckpoint,
  WORLDS,
  writeCheckpoint,
} from '@episodic-example/training'

// A learner that is killed: `node learner.ts <url> <token> <checkpoint> <episodes> <seed>`. After each
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
}

const [url = '', token = '', checkpoint = '', episodes = '', seed = ''] = process.argv.slice(2)
const world = WORLDS['frozen-lake']
const settings = { ...HYPERPARAMETERS['frozen-lake'].ppo, episodes: Number(episodes) }

const rollouts = await openRollouts()
for await (const { state, rollout } of learn({ world, rollouts, settings, seed, from: readCheckpoint(checkpoint) })) {
  writeCheckpoint(checkpoint, state)
  const { trajectories, failures } = rollout
  const line: LearnerLine = {
    played: state.played,
    parameters: fingerprint(state.parameters),
    return: trajectories.reduce((sum, trajectory) => sum + trajectory.return, 0) / trajectories.length,
    failures,
  }
  console.log(JSON.stringify(line))
}
process.exit(0)

async function openRollouts(): Promise<Rollouts> {
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
