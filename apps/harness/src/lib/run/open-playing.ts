import type { Policy, Target } from '@episodic/env'
import { declaredAction } from '@episodic/mcp-server'
import type { Action, EnvironmentInfo } from '@episodic/protocol'
import { type Agent, isAgent } from '../agents/agent.ts'
import { createPlayAgent } from '../agents/play-agent.ts'
import { HarnessError } from '../harness-error.ts'
import type { World } from '../world.ts'
import type { RunConfiguration } from './configuration.ts'
import { openTarget, openWorld, scoredBy, type Transport } from './environments.ts'
import { createPlayPlanned, type PlayPlanned } from './play-planned.ts'

/** What a plan is played with. Disposing of it stops all that was started for it. */
export interface Playing extends AsyncDisposable {
  readonly play: PlayPlanned
}

export interface OpenPlayingOptions {
  readonly reference: string
  readonly world: World
  /** A server that is there already; `null` to serve the world. */
  readonly target: Target | null
  readonly transport: Transport
  readonly workerThreads: boolean
  /** Episodes in flight at once. */
  readonly concurrency: number
  /** Seconds that a call which gets no answer is made again. */
  readonly retryTimeout: number
  readonly player: Policy | Agent
}

/** Connects to what a run is played in. Throws what a server that cannot be reached, or that plays something else, comes to. */
export async function openPlaying(
  configuration: RunConfiguration,
  { reference, world, target, transport, workerThreads, concurrency, retryTimeout, player }: OpenPlayingOptions,
): Promise<Playing> {
  await using cleanUp = new AsyncDisposableStack()
  const sessions = concurrency + 16
  const { connection, agentUrl } = cleanUp.use(
    await (target
      ? openTarget(target, retryTimeout)
      : openWorld(reference, world, { transport, sessions, workerThreads, retryTimeout })),
  )
  const createEnvironment = scoredBy(configuration, connection)
  const { seed, discount, branch } = configuration
  if (branch.length > 0) assertForkable(createEnvironment().info)
  const accept = (action: Action) => declaredAction(world.environment, action)
  const play = isAgent(player)
    ? createPlayAgent({
        agent: player,
        watch: () => connection.watched(configuration.environment.name),
        score: createEnvironment,
        addressOf: addressesAt(agentUrl),
        seed,
        discount,
        accept,
        seconds: AGENT_SECONDS,
      })
    : createPlayPlanned({ createEnvironment, policy: player, seed, discount, branch, accept })
  const owned = cleanUp.move()
  return {
    play,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Seconds that an agent may take for an episode. */
const AGENT_SECONDS = 1_800

/** Throws `option-invalid` where agents have no address to play at. */
function addressesAt(agentUrl: string | null): (capability: string) => string {
  if (agentUrl !== null) return (capability) => `${agentUrl}/s/${capability}`
  throw new HarnessError(
    'option-invalid',
    'An agent plays over HTTP: give --transport http, or the --url of a trainer endpoint such as http://127.0.0.1:7337/env.',
  )
}

/** Throws `not-forkable` for a world that cannot be. */
function assertForkable({ name, forkable }: EnvironmentInfo): void {
  if (forkable) return
  throw new HarnessError(
    'not-forkable',
    `${name} cannot be forked: somebody else keeps its state. Leave --branch out; --rollouts plays it from its start several times.`,
  )
}
