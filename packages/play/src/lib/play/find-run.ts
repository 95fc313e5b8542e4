import { join } from 'node:path'
import type { Policy, Target } from '@episodic/env'
import { createFolderJournal } from '@episodic/models/journal/folder-journal'
import type { ModelJournal } from '@episodic/models/journal/model-journal'
import { ModelAccess } from '@episodic/models/model-access'
import { recordingOf, shareLimits } from '@episodic/models/model-options'
import { DEFAULT_SEAT } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import { mapValues } from '@episodic/run/base/map-values'
import { asksModels, isAgentName } from '@episodic/run/base/player-names'
import type { RunConfiguration } from '@episodic/run/folder/plan/configuration'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { RUN_FILES } from '@episodic/run/folder/record/run-folder'
import type { Agent } from '../worlds/agents/agent.ts'
import { secretsOf } from '../worlds/player-environment.ts'
import { findPlayer } from '../worlds/policies.ts'
import { isServed, loadPlayedWorld, type PlayedWorld } from '../worlds/served-world.ts'
import { targetOf } from '../worlds/target.ts'
import { PLAYED_SERVERS } from '../worlds/target-options.ts'
import { reachServer } from './episodes/reach-server.ts'
import type { OriginOf } from './episodes/rollout.ts'
import { configureRun } from './plan/configure-run.ts'
import { seatNames } from './plan/players.ts'
import type { RunSettings, Transport } from './run-settings.ts'

/** A run: what it plays, who plays, and how. It is found, then planned, played and reported. */
export interface Run {
  readonly settings: RunSettings
  /** What it plays, as it is kept in its folder. */
  readonly configuration: RunConfiguration
  /** The name, path or package of the world. */
  readonly reference: string
  readonly world: PlayedWorld
  /** A running server of the world; `null` to serve it over `transport`. */
  readonly target: Target | null
  /** How it is connected: as asked for, else the fastest way. A server of another system has its own. */
  readonly transport: Transport
  /** Who plays each seat. The only seat of an environment is `agent`. */
  readonly players: { readonly [seat: string]: Policy | Agent }
  /** Whether an agent plays, or one of them: it needs a session URL. */
  readonly isPlayedByAgent: boolean
  /** The episodes of earlier runs that it goes on from. Left out if all of its episodes start anew. */
  readonly continued?: Continued
  /** What the language models among the players share. */
  readonly access: ModelAccess
}

export interface Continued {
  /** Each point once, with its task. */
  readonly points: readonly PlannedEpisode[]
  readonly originOf: OriginOf
}

/** The world of a run, and where it is played. */
export interface RunPlace {
  /** Name, path or package of the world; on a server of another system, its environment. Default: its first. */
  readonly given: string | undefined
  readonly world: PlayedWorld
  /** A running server of the world; `null` to serve it. */
  readonly named: Target | null
}

/**
 * Finds the world and the players of a run, and what it plays.
 *
 * Rejects with `option-invalid`, and with the errors of `loadPlayedWorld` and `findPlayer`.
 */
export async function findRun(given: string | undefined, settings: RunSettings): Promise<Run> {
  const named = targetOf(settings, PLAYED_SERVERS)
  const world = await loadPlayedWorld(given, named)
  const found = await findPlayers({ given, world, named }, seatNames(world, settings), settings)
  return { ...found, configuration: await configureRun(world, settings) }
}

/**
 * Finds the run of a configuration that another process has found. Rejects as {@link findRun} does.
 *
 * @param access - what its language models share. Default: a rate limit of this process.
 */
export async function joinRun(
  configuration: RunConfiguration,
  place: RunPlace,
  settings: RunSettings,
  access?: ModelAccess,
): Promise<Run> {
  const { seats = { [DEFAULT_SEAT]: configuration.policy } } = configuration
  const names = mapValues(seats, ({ name }) => name)
  return { ...(await findPlayers(place, names, settings, access)), configuration }
}

async function findPlayers(
  { given, world, named }: RunPlace,
  seats: { readonly [seat: string]: string },
  settings: RunSettings,
  access = new ModelAccess(),
): Promise<Omit<Run, 'configuration'>> {
  const model = shareLimits(settings, settings.processes)
  const options = { model, access, secrets: secretsOf(named, settings.queue) }
  const players: Record<string, Policy | Agent> = {}
  for (const [seat, name] of Object.entries(seats)) players[seat] = await findPlayer(name, world, options)
  const isPlayedByAgent = Object.values(seats).some(isAgentName)
  if (settings.recordModels && !isPlayedByAgent)
    throw invalidOption(
      '--record-models is for process:<command> and agent:<file>. What llm:<model> is sent and says is always recorded.',
    )
  if (isPlayedByAgent && settings.branch.length > 0)
    throw invalidOption(
      '--branch needs a policy: an agent plays whole episodes, which cannot be forked. Leave --branch out.',
    )
  if (isPlayedByAgent && isServed(world))
    throw invalidOption('An agent plays over MCP, and a server of another system has no session URLs. Give a policy.')
  // An agent needs a server with an address.
  const fastest = settings.transport ?? (isPlayedByAgent ? 'websocket' : 'in-process')
  const { target, transport } =
    named && !isServed(world) ? await reachServer(named, settings.transport) : { target: named, transport: fastest }
  const reference = given ?? world.environment.name
  return { settings, reference, world, target, transport, players, isPlayedByAgent, access }
}

/**
 * Whether a run keeps the answers of language models until their episodes are sealed: it asks some, and lines have what
 * they say.
 */
export function keepsAnswers({ settings, configuration }: Pick<Run, 'settings' | 'configuration'>): boolean {
  const { transcript, recordModels = false, tokenIds } = settings
  return transcript !== 'none' && ((recordModels && tokenIds) || asksModels(configuration))
}

/** Returns what keeps the answers of language models in the folder of a run; `null` if it keeps none. */
export function journalOf(run: Run, folder: string): ModelJournal | null {
  if (!keepsAnswers(run)) return null
  return createFolderJournal(join(folder, RUN_FILES.answers), { redact: recordingOf(run.settings).redact })
}
