import type { Policy, Target } from '@episodic/env'
import { declaredAction } from '@episodic/mcp-server/internal'
import type { ModelProxyOptions } from '@episodic/models/gateway/model-proxy'
import type { ModelJournal } from '@episodic/models/journal/model-journal'
import { type Action, DEFAULT_SEAT, type EnvironmentInfo, type SealedRecord } from '@episodic/protocol'
import { HarnessError, invalidOption } from '@episodic/runs/base/harness-error'
import { mapValues } from '@episodic/runs/base/map-values'
import type { RunConfiguration } from '@episodic/runs/folder/plan/configuration'
import type { Recording } from '@episodic/runs/folder/record/recording'
import type { RunManifest } from '@episodic/runs/folder/record/run-folder'
import { StepTimes } from '@episodic/runs/folder/record/step-times'
import { type Agent, isAgent } from '../../worlds/agents/agent.ts'
import type { AgentModels } from '../../worlds/agents/agent-models.ts'
import { createSeatAgent } from '../../worlds/agents/seat-agent.ts'
import { isServed, type PlayedWorld } from '../../worlds/served-world.ts'
import type { Players } from '../plan/players.ts'
import type { Transport } from '../run-settings.ts'
import type { InFlight } from './in-flight.ts'
import { environmentFactory, gameFactory, openTarget, openWorld } from './open-environment.ts'
import { createRunTask, playEpisodes, playMatch, type RunTask } from './run-task.ts'
import { withTimeLimit } from './with-time-limit.ts'

/** What earlier parts of a resumed run have left. */
export interface EarlierParts {
  /** Milliseconds that they took. */
  readonly elapsed: number
  /** Returns whether they have stored an episode. */
  readonly hasStored: (record: SealedRecord) => boolean
}

/** Plays the episodes of a plan. Disposing it stops everything that was started for it. */
export interface Runner extends AsyncDisposable {
  readonly runTask: RunTask
  /** Where the time of steps goes, as far as it is known. Default: unknown. */
  readonly times?: StepTimes
  /** Planned episodes that it can have in flight. Default: as many as the run asks for. */
  readonly inFlight?: InFlight
  /**
   * Called before the first `runTask`, when the folder of the run is locked. Rejects with `run-locked` or
   * `run-mismatch` if somebody else plays the run.
   */
  readonly begin?: (manifest: RunManifest, earlier: EarlierParts) => Promise<void>
  /** Called with each record that the run has stored, or has stored before. */
  readonly onStored?: (record: SealedRecord) => void
  /** Called when the whole plan was played, and its records are stored. */
  readonly onComplete?: () => void
  /** Says by whom the run is played now, for its progress. */
  readonly describe?: () => string
}

export interface OpenRunnerOptions {
  readonly reference: string
  readonly world: PlayedWorld
  /** A running server of the world; `null` to serve it over `transport`. */
  readonly target: Target | null
  readonly transport: Transport
  readonly workerThreads: boolean
  /** Episodes in flight at once. */
  readonly concurrency: number
  /** Seconds to keep retrying an unanswered call. */
  readonly retryTimeout: number
  readonly players: Players
  /** Whether an agent plays, or one of them. */
  readonly isPlayedByAgent: boolean
  /** How the answers of language models are kept. */
  readonly recording: Recording
  /** The proxy that records what agents ask of language models; `null` for none. */
  readonly models?: ModelProxyOptions | null
  /** Keeps the answers of models until their episode is sealed. Default: none is kept. */
  readonly journal?: ModelJournal | null
}

/** Connects to the environment of a run. Throws if the server is unreachable or serves something else. */
export async function openRunner(configuration: RunConfiguration, options: OpenRunnerOptions): Promise<Runner> {
  const { reference, world, target, transport, workerThreads, concurrency, retryTimeout, players, recording } = options
  const { models = null, journal = null } = options
  await using cleanUp = new AsyncDisposableStack()
  const sessions = concurrency + 16
  const times = new StepTimes()
  const { connection, agentUrl } = cleanUp.use(
    await (isServed(world)
      ? openTarget(world.target)
      : target
        ? openTarget(target, retryTimeout, times)
        : openWorld(reference, world, { transport, sessions, workerThreads, retryTimeout, times })),
  )
  // Its modules load here, since few runs need them.
  const proxy =
    models && cleanUp.use(await (await import('@episodic/models/gateway/model-proxy')).openModelProxy(models))
  const { seed, discount, branch, maxSteps, episodeTimeout, weights, policy, seats } = configuration
  const limited = (player: Agent | Policy, seconds: number) =>
    isAgent(player) ? player : withTimeLimit(player, seconds)
  const policies =
    episodeTimeout === undefined ? players : mapValues(players, (player) => limited(player, episodeTimeout))
  const addressOf = options.isPlayedByAgent ? sessionUrls(agentUrl) : null
  const createEnvironment = seats ? null : environmentFactory(configuration, connection)
  if (createEnvironment && branch.length > 0) assertForkable(createEnvironment().info)
  const runTask = createRunTask({
    seed,
    discount,
    recording,
    proxy,
    journal,
    seatAgent:
      addressOf &&
      ((agent: Agent, models: AgentModels) =>
        createSeatAgent(agent, addressOf, episodeTimeout ?? AGENT_SECONDS, models)),
    // Only a world declares all arguments of its tools.
    ...(!isServed(world) && { accept: (action: Action) => declaredAction(world.environment, action) }),
    play: createEnvironment
      ? playEpisodes({
          createEnvironment,
          policy: policies[DEFAULT_SEAT] as Policy | Agent,
          version: policy.version,
          branch,
          watch: () => connection.watched(configuration.environment.name),
        })
      : playMatch({
          createGame: gameFactory(configuration, connection),
          policies,
          versions: mapValues(seats ?? {}, ({ version }) => version),
          maxSteps,
          weights,
        }),
  })
  const owned = cleanUp.move()
  return { runTask, ...(createEnvironment && { times }), [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Seconds that an agent may take for an episode, unless the run says how many. */
const AGENT_SECONDS = 1_800

/** Returns a function from a capability to its session URL. Throws `option-invalid` if agents have no address. */
function sessionUrls(agentUrl: string | null): (capability: string) => string {
  if (agentUrl !== null) return (capability) => `${agentUrl}/s/${capability}`
  throw invalidOption(
    'An agent plays over HTTP: give --transport websocket or http, or the --url of a trainer endpoint such as http://127.0.0.1:7337/env.',
  )
}

function assertForkable({ name, forkable }: EnvironmentInfo): void {
  if (forkable) return
  throw new HarnessError(
    'not-forkable',
    `${name} cannot be forked: its state is kept outside. Leave --branch out; --rollouts plays it from its start several times.`,
  )
}
