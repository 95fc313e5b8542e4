import { join } from 'node:path'
import type { Policy, Target } from '@episodic/env'
import { createFolderJournal } from '@episodic/models/journal/folder-journal'
import type { ModelJournal } from '@episodic/models/journal/model-journal'
import { ModelAccess } from '@episodic/models/model-access'
import { recordingOf, shareLimits } from '@episodic/models/model-options'
import { invalidOption } from '@episodic/runs/base/harness-error'
import { isAgentName, isLlm, policyFileOf } from '@episodic/runs/base/player-names'
import { countLeaves, type RunConfiguration } from '@episodic/runs/folder/plan/configuration'
import { hashFile, hashModule } from '@episodic/runs/folder/plan/content-hash'
import { stagesOf } from '@episodic/runs/folder/plan/curriculum-settings'
import { RUN_FILES } from '@episodic/runs/folder/record/run-folder'
import type { Agent } from '../worlds/agents/agent.ts'
import { secretsOf } from '../worlds/player-environment.ts'
import { findPlayer } from '../worlds/policies.ts'
import { isServed, loadPlayedWorld, type PlayedWorld } from '../worlds/served-world.ts'
import { targetOf } from '../worlds/target.ts'
import { PLAYED_SERVERS } from '../worlds/target-options.ts'
import { openRunner, type Runner } from './episodes/open-runner.ts'
import { reachServer } from './episodes/reach-server.ts'
import { maxTasksInFlight } from './episodes/run-plan.ts'
import { defaultPolicy, type NamedPlayers, seatNames, seatPolicies } from './plan/players.ts'
import type { RunSettings } from './run-settings.ts'

/** A run whose world and players have been found. */
export type PreparedRun = Awaited<ReturnType<typeof preparePlayed>>

/**
 * Finds the world and the players of a run.
 *
 * @param given - name, path or package of the world; on a server of another system, its environment. Default: its
 *   first.
 *
 * @param access - what its language models share. Default: a rate limit of this process.
 *
 * @param named - a running server of the world; `null` to serve it. Default: the one that the settings name.
 *
 * Rejects with `option-invalid`, and with the errors of `loadPlayedWorld` and `findPlayer`.
 */
export async function prepareRun(
  given: string | undefined,
  settings: RunSettings,
  access: ModelAccess = new ModelAccess(),
  named: Target | null = targetOf(settings, PLAYED_SERVERS),
) {
  const world = await loadPlayedWorld(given, named)
  return preparePlayed({ given, world, named, seats: seatNames(world, playersOf(settings)) }, settings, access)
}

/** What a run plays, and the name of who plays each seat. */
export interface Played {
  readonly given: string | undefined
  readonly world: PlayedWorld
  readonly named: Target | null
  readonly seats: { readonly [seat: string]: string }
}

/** Finds the players of a run by their names. Rejects as {@link prepareRun} does. */
export async function preparePlayed(
  { given, world, named, seats }: Played,
  settings: RunSettings,
  access: ModelAccess,
) {
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
  return {
    settings,
    reference: given ?? world.environment.name,
    world,
    /** A running server of the world; `null` to serve it. */
    target,
    /** How the run is connected: as asked for, else the fastest way. A server of another system has its own. */
    transport,
    players,
    /** Whether an agent plays, or one of them: it needs a session URL. */
    isPlayedByAgent,
    /** What the language models among the players share. */
    access,
  }
}

/**
 * Whether a run keeps the answers of language models until their episodes are sealed: it asks some, and lines have what
 * they say.
 */
export function keepsAnswers(
  { transcript, recordModels = false, tokenIds }: Pick<RunSettings, 'transcript' | 'recordModels' | 'tokenIds'>,
  configuration: RunConfiguration,
): boolean {
  return transcript !== 'none' && ((recordModels && tokenIds) || policyNames(configuration).some(isLlm))
}

/** Returns what keeps the answers of language models in the folder of a run; `null` if it keeps none. */
export function journalOf(
  { settings }: PreparedRun,
  configuration: RunConfiguration,
  folder: string,
): ModelJournal | null {
  if (!keepsAnswers(settings, configuration)) return null
  const { redact } = recordingOf(settings)
  return createFolderJournal(join(folder, RUN_FILES.answers), { redact })
}

/**
 * Connects to the environment of a run in this process. Rejects as {@link openRunner} does.
 *
 * @param journal - keeps the answers of language models, and has those that an earlier process kept.
 */
export function openPrepared(
  prepared: PreparedRun,
  configuration: RunConfiguration,
  journal: ModelJournal | null,
): Promise<Runner> {
  prepared.access.journal = journal
  const { concurrency, retryTimeout, workerThreads = false, recordModels } = prepared.settings
  const { baseUrl = null, prices = null, modelOption: options, tokenIds: tokens } = prepared.settings
  const recording = recordingOf(prepared.settings)
  const models = recordModels ? { baseUrl, prices, tokens, options } : null
  const shared = { workerThreads, concurrency, retryTimeout, recording, models, journal }
  return openRunner(configuration, { ...prepared, ...shared })
}

export async function configureRun({ world, settings }: PreparedRun): Promise<RunConfiguration> {
  const { name, version, hasPotential } = world.environment
  const split = settings.split ?? null
  const players = playersOf(settings)
  const seats = seatPolicies(world, players)
  if (seats) assertForSeats(name, settings)
  const focus = settings.focus ?? Object.keys(seats ?? {})[0]
  const policy = (focus && seats?.[focus]) ?? players.policy ?? defaultPolicy(world)
  const toConfiguration = (name: string) =>
    toPolicyConfiguration(name, name === policy ? settings.policyVersion : undefined)
  const leaves = countLeaves(settings.branch)
  // The workers of a queue have a concurrency of their own.
  if (settings.queue === undefined && settings.branch.length > 0 && leaves > settings.concurrency)
    throw invalidOption(
      `--branch plays ${leaves} episodes of a tree at once, and --concurrency is ${settings.concurrency}. Give --concurrency ${leaves}, or fewer lines.`,
    )
  const rollouts = maxTasksInFlight(settings.concurrency, settings.branch)
  if (settings.processes > rollouts)
    throw invalidOption(
      `--processes ${settings.processes} is more than the ${rollouts} ${leaves > 1 ? 'trees' : 'episodes'} that --concurrency ${settings.concurrency} plays at once. Give fewer processes, or more --concurrency.`,
    )
  if (settings.shaping && !hasPotential)
    throw invalidOption(`--shaping needs a potential, and ${name} defines no potential. Leave --shaping out.`)
  return {
    environment: { name, version, ...(isServed(world) && { system: world.guarantees.system }) },
    tasks: settings.dataset
      ? { from: 'dataset', file: settings.dataset, sha256: await hashFile(settings.dataset), split }
      : { from: 'generator', count: settings.tasks, difficulty: settings.difficulty, split },
    policy: await toConfiguration(policy),
    ...(seats && { seats: await toPolicyConfigurations(seats, toConfiguration), focus }),
    sampling: samplingOf(seats ? Object.values(seats) : [policy], settings),
    rollouts: settings.rollouts,
    ...(settings.stages && { curriculum: stagesOf(settings.stages) }),
    branch: settings.branch,
    maxSteps: settings.maxSteps ?? null,
    ...(settings.episodeTimeout !== undefined && { episodeTimeout: settings.episodeTimeout }),
    weights: settings.weights,
    shaping: settings.shaping ?? false,
    discount: settings.discount,
    seed: settings.seed,
  }
}

export function policyNames({ policy, seats = {} }: Pick<RunConfiguration, 'policy' | 'seats'>): string[] {
  return [...new Set([policy, ...Object.values(seats)].map(({ name }) => name))]
}

function playersOf({ policy, seat, focus }: RunSettings): NamedPlayers {
  return { policy, seats: seat, focus }
}

async function toPolicyConfiguration(name: string, version: string | undefined): Promise<RunConfiguration['policy']> {
  const file = policyFileOf(name)
  return { name, sha256: file && (await hashModule(file)), ...(version !== undefined && { version }) }
}

async function toPolicyConfigurations(
  seats: { readonly [seat: string]: string },
  toConfiguration: (name: string) => Promise<RunConfiguration['policy']>,
): Promise<RunConfiguration['seats']> {
  const entries = Object.entries(seats).map(async ([seat, name]) => [seat, await toConfiguration(name)] as const)
  return Object.fromEntries(await Promise.all(entries))
}

function assertForSeats(name: string, { branch, shaping }: RunSettings): void {
  const given = branch.length > 0 ? '--branch' : shaping ? '--shaping' : null
  if (given) throw invalidOption(`${given} is for environments of one seat, and ${name} has several. Leave it out.`)
}

const NO_SAMPLING = { temperature: null, maxTokens: null, tokenBudget: null }

function samplingOf(policies: readonly string[], settings: RunSettings): RunConfiguration['sampling'] {
  const { temperature = null, maxTokens = null, tokenBudget = null } = settings
  const { systemPrompt, parallelToolCalls, images, modelOption, modelHeader } = settings
  const given = {
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(!parallelToolCalls && { parallelToolCalls: false as const }),
    ...(!images && { images: false as const }),
    ...(modelOption && { modelOption }),
    ...(modelHeader && { modelHeader }),
  }
  const isGiven = (temperature ?? maxTokens ?? tokenBudget) !== null || Object.keys(given).length > 0
  if (policies.some(isLlm)) return isGiven ? { temperature, maxTokens, tokenBudget, ...given } : null
  // Of what agents ask, a run changes nothing but fields of the requests that it records.
  return settings.recordModels && modelOption ? { ...NO_SAMPLING, modelOption } : null
}
