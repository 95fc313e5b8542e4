import type { Playable, StepResult } from '@episodic/env'
import { createRng, type Observation, type Rng } from '@episodic/protocol'
import type { Numbers } from '../network/network.ts'
import { taskOf, type World } from '../worlds/world.ts'
import type { Actor } from './actor.ts'
import { cpuTime } from './cpu-time.ts'
import type { Rollout, Trajectory } from './trajectory.ts'
import type { VectorEnvironment } from './vector-environment.ts'

/** What is drawn in an episode: the seed of the environment and that of the actions. */
export interface EpisodeSeeds {
  readonly environment: string
  /** `null`: the most likely action is taken at each step. */
  readonly actions: string | null
}

/** How often an episode that failed is played again before the training is given up. */
export const ATTEMPTS = 5

/** An episode as far as it has been played. */
interface Played {
  readonly inputs: Numbers[]
  readonly actions: number[]
  readonly rewards: number[]
  return: number
}

/**
 * Plays one episode in each place of a vector environment, all at once: one answer of the network for all that go on,
 * then one step of each.
 *
 * An episode that fails is neither scored nor left out, either of which would change what is learned. It is played
 * again with its seeds. Rejects with the cause of the failure if that fails five times.
 */
export async function playEpisodes(
  vector: VectorEnvironment,
  world: World,
  actor: Actor,
  seeds: readonly EpisodeSeeds[],
): Promise<Rollout> {
  const trajectories: (Trajectory | null)[] = seeds.map(() => null)
  const counts = { steps: 0, acting: 0, failures: 0 }
  for (let attempt = 1; trajectories.includes(null); attempt++) {
    const failure = await playOnce(vector, world, actor, seeds, trajectories, counts)
    if (failure && attempt === ATTEMPTS) throw failure.cause
  }
  return { trajectories: trajectories as Trajectory[], ...counts }
}

/** Plays the episodes that have no trajectory yet, and fills it in. Resolves with a failure if there was one. */
async function playOnce(
  vector: VectorEnvironment,
  world: World,
  actor: Actor,
  seeds: readonly EpisodeSeeds[],
  trajectories: (Trajectory | null)[],
  counts: { steps: number; acting: number; failures: number },
): Promise<{ cause: unknown } | null> {
  let failure: { cause: unknown } | null = null
  const { scale = 1 } = world
  const fail = (cause: unknown): null => {
    counts.failures += 1
    failure = { cause }
    return null
  }
  // A batch may be smaller than the vector environment.
  const places = Array.from({ length: vector.size }, (_, place) => (trajectories[place] === null ? seeds[place] : null))
  const tasks = places.map((seed): Playable | null => (seed ? { ...taskOf(world), seed: seed.environment } : null))
  const played = places.map((): Played => ({ inputs: [], actions: [], rewards: [], return: 0 }))
  const isGreedy = seeds.every(({ actions }) => actions === null)
  const rngs: Rng[] | null = isGreedy ? null : places.map((seed) => createRng(seed?.actions ?? ''))

  const started = await vector.reset(tasks)
  let observations: (Observation | null)[] = started.map((start) => {
    if (start === null) return null
    return start.kind === 'ok' ? start.value.observation : fail(start.cause)
  })
  while (observations.some((observation) => observation !== null)) {
    const asked = cpuTime()
    const inputs = observations.map((observation) => observation && world.encode(observation))
    const choices = actor.act(inputs, rngs)
    counts.acting += cpuTime() - asked
    const steps = await vector.step(choices.map((choice) => (choice === null ? null : (world.actions[choice] ?? null))))
    observations = steps.map((step, place) => {
      if (step === null) return null
      if (step.kind === 'failed') return fail(step.cause)
      const episode = played[place] as Played
      counts.steps += 1
      episode.inputs.push(inputs[place] as Numbers)
      episode.actions.push(choices[place] as number)
      episode.rewards.push(scale * step.value.reward.total)
      episode.return += Object.values(step.value.reward.terms).reduce((sum, term) => sum + term, 0)
      if (!step.value.end) return step.value.observation
      trajectories[place] = trajectoryOf(world, episode, step.value)
      return null
    })
  }
  return failure
}

function trajectoryOf(world: World, played: Played, { end, observation, truncated }: StepResult): Trajectory {
  return {
    ...played,
    cutOff: truncated ? world.encode(observation) : null,
    success: world.isSuccess(end?.reason ?? ''),
  }
}
