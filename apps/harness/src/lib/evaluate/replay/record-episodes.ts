import { definePolicy, type Policy, randomPolicy } from '@episodic/env'
import { environmentFactory, openWorld } from '@episodic/play/play/episodes/open-environment'
import { runEpisodes } from '@episodic/play/play/episodes/run-episodes'
import { planEpisodes, tasksOf } from '@episodic/play/play/plan/plan'
import type { Transport } from '@episodic/play/play/run-settings'
import type { World } from '@episodic/play/worlds/world'
import { createRng, type SealedRecord } from '@episodic/protocol'
import { type RunConfiguration, UNCHANGED } from '@episodic/run/folder/plan/configuration'
import { SealedFile } from '@episodic/run/folder/record/sealed-file'

/** Records must not depend on it. */
export interface Setting {
  /** As `episodic serve --store` names it. */
  readonly store: string
  readonly transport: Transport
  readonly concurrency: number
}

export interface NamedWorld {
  readonly reference: string
  readonly world: World
}

/**
 * Records episodes of a world to a file, as a run does. The same count plays the same episodes with every setting.
 * Resolves with the seconds of playing them, without the start of the server.
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
    ...UNCHANGED,
    seed: 'matrix',
  }
  await using opened = await openWorld(reference, world, { transport, sessions: concurrency + 16, store })
  await using file = await SealedFile.open(path)
  const began = performance.now()
  await runEpisodes(planEpisodes(tasksOf(configuration, world), configuration.rollouts), {
    run: 'matrix',
    createEnvironment: environmentFactory(configuration, opened.connection),
    policy: mixedPolicy(world),
    seed: configuration.seed,
    discount: configuration.discount,
    concurrency,
    seal: (record: SealedRecord) => file.append(record),
  })
  return (performance.now() - began) / 1_000
}

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
