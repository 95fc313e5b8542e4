import { definePolicy, type Policy, randomPolicy } from '@episodic/env'
import { createRng, type EpisodeRecord } from '@episodic/protocol'
import type { RunConfiguration } from '../run/configuration.ts'
import { openWorld, scoredBy, type Transport } from '../run/environments.ts'
import { planOf, tasksOf } from '../run/plan.ts'
import { playEpisodes } from '../run/play-episodes.ts'
import { SealedFile } from '../run/sealed-file.ts'
import type { World } from '../world.ts'

/** Where and how episodes are recorded. Nothing of it may show in what is recorded. */
export interface Setting {
  /** As `episodic serve --store` names it. */
  readonly store: string
  readonly transport: Transport
  /** Episodes in flight at once. */
  readonly concurrency: number
}

/** A world, and what it was loaded by. */
export interface NamedWorld {
  readonly reference: string
  readonly world: World
}

/**
 * Records episodes of a world to a file, as a run does. The same count plays the same episodes, in every setting.
 * Resolves with the seconds that it took to play them, the start of a server not included.
 */
export async function recordEpisodes(
  { reference, world }: NamedWorld,
  { store, transport, concurrency }: Setting,
  count: number,
  path: string,
): Promise<number> {
  const { name, version } = world.environment
  const configuration: RunConfiguration = {
    environment: { name, version },
    tasks: { from: 'generator', count, difficulty: [0, 1], split: null },
    policy: { name: 'mixed', sha256: null },
    sampling: null,
    rollouts: 1,
    branch: [],
    maxSteps: null,
    weights: {},
    shaping: false,
    discount: 1,
    seed: 'matrix',
  }
  await using opened = await openWorld(reference, world, { transport, sessions: concurrency + 16, store })
  await using file = await SealedFile.open(path)
  const began = performance.now()
  await playEpisodes(planOf(tasksOf(configuration, world), configuration.rollouts), {
    run: 'matrix',
    createEnvironment: scoredBy(configuration, opened.connection),
    policy: mixedPolicy(world),
    seed: configuration.seed,
    discount: configuration.discount,
    concurrency,
    seal: (record: EpisodeRecord) => file.append(record),
  })
  return (performance.now() - began) / 1_000
}

/** Plays each episode either at random or, where the world has one, as its solver does; its seed decides. */
function mixedPolicy({ solver }: World): Policy {
  const random = randomPolicy()
  return definePolicy({
    name: 'mixed',
    start(context) {
      const solves = createRng(context.seed).stream('mix').chance(0.5)
      return (solves && solver ? solver : random).start(context)
    },
  })
}
