import type { Policy } from '@episodic/env'
import { declaredAction } from '@episodic/mcp-server/internal'
import type { ModelJournal } from '@episodic/models/journal/model-journal'
import { recordingOf } from '@episodic/models/model-options'
import { type Action, DEFAULT_SEAT, type EnvironmentInfo, type SealedRecord } from '@episodic/protocol'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { mapValues } from '@episodic/run/base/map-values'
import type { RunManifest } from '@episodic/run/folder/record/run-folder'
import { StepTimes } from '@episodic/run/folder/record/step-times'
import { type Agent, isAgent } from '../../worlds/agents/agent.ts'
import { isServed } from '../../worlds/served-world.ts'
import type { Run } from '../find-run.ts'
import type { RunSettings } from '../run-settings.ts'
import type { InFlight } from './in-flight.ts'
import { environmentFactory, gameFactory, openTarget, openWorld } from './open-environment.ts'
import { createRunTask, type RolloutOptions, type RunTask } from './rollout.ts'
import { withTimeLimit } from './with-time-limit.ts'

export interface EarlierParts {
  /** Milliseconds that they took. */
  readonly elapsed: number
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
  readonly describe?: () => string
}

/**
 * Connects to the environment of a run, to play it in this process. Rejects if the server is unreachable or serves
 * something else.
 *
 * @param journal - keeps the answers of language models until their episode is sealed, and has those that an earlier
 *   process kept.
 */
export async function openRunner(run: Run, journal: ModelJournal | null): Promise<Runner> {
  const { configuration, settings, reference, world, target, transport, players, access } = run
  const { seed, discount, branch, maxSteps, weights, policy, seats, environment, episodeTimeout } = configuration
  const { concurrency, retryTimeout, recordModels } = settings
  access.journal = journal
  await using cleanUp = new AsyncDisposableStack()
  const times = new StepTimes()
  const { connection, agentUrl } = cleanUp.use(
    await (isServed(world)
      ? openTarget(world.target)
      : target
        ? openTarget(target, retryTimeout, times)
        : openWorld(reference, world, { transport, sessions: concurrency + 16, retryTimeout, times })),
  )
  const proxy = recordModels ? cleanUp.use(await openProxy(settings)) : null
  const limited = (player: Agent | Policy) =>
    episodeTimeout === undefined || isAgent(player) ? player : withTimeLimit(player, episodeTimeout)
  const addressOf = run.isPlayedByAgent ? sessionUrls(agentUrl) : null
  const createEnvironment = seats ? null : environmentFactory(configuration, connection)
  if (createEnvironment && branch.length > 0) assertForkable(createEnvironment().info)
  const rollouts: RolloutOptions = {
    originOf: run.continued?.originOf,
    seed,
    discount,
    recording: recordingOf(settings),
    // Only a world declares all arguments of its tools, and which of them words are.
    ...(!isServed(world) && {
      accept: (action: Action) => declaredAction(world.environment, action),
      tools: world.environment.toolInfos,
    }),
    agents: addressOf && { addressOf, seconds: episodeTimeout ?? AGENT_SECONDS, proxy, journal },
    players: mapValues(players, limited),
    versions: mapValues(seats ?? { [DEFAULT_SEAT]: policy }, ({ version }) => version),
    play: createEnvironment
      ? { createEnvironment, branch, watch: () => connection.watched(environment.name) }
      : { createGame: gameFactory(configuration, connection), maxSteps, weights },
  }
  const create = configuration.toolFaults
    ? (await import('../faults/faulty-rollouts.ts')).createFaultyRunTask
    : createRunTask
  const runUnchecked = create(rollouts, configuration)
  const runTask: typeof runUnchecked = async (planned, context) => {
    if (!planned.task.metadata.users) return runUnchecked(planned, context)
    const { checkedUsers } = await import('../users/checked-users.ts')
    return create({ ...rollouts, players: checkedUsers(rollouts.players, planned) }, configuration)(planned, context)
  }
  const owned = cleanUp.move()
  return { runTask, ...(createEnvironment && { times }), [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Opens what records what agents ask of language models. Its modules load here, since few runs need them. */
async function openProxy({ baseUrl, prices, modelOption: options, tokenIds: tokens }: RunSettings) {
  const { openModelProxy } = await import('@episodic/models/gateway/model-proxy')
  return openModelProxy({ baseUrl: baseUrl ?? null, prices: prices ?? null, tokens, options })
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
  const why = `${name} cannot be forked: its state is kept outside.`
  throw new HarnessError('not-forkable', `${why} Leave --branch out; --rollouts plays it from its start several times.`)
}
