import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { recordingOf } from '@episodic/models/model-options'
import { openRunner, type Runner } from '@episodic/play/play/episodes/open-runner'
import { joinRun, keepsAnswers, type RunPlace } from '@episodic/play/play/find-run'
import { runSettingsSchema } from '@episodic/play/play/run-settings'
import { loadPlayedWorld } from '@episodic/play/worlds/served-world'
import { isOtherSystem, targetOf } from '@episodic/play/worlds/target'
import { PLAYED_SERVERS } from '@episodic/play/worlds/target-options'
import { loadWorld, locateByName, type World } from '@episodic/play/worlds/world'
import { HarnessError } from '@episodic/run/base/harness-error'
import { isWithin } from '@episodic/run/base/own-files'
import { asksModels, isAgentName, policyFileOf } from '@episodic/run/base/player-names'
import { countLeaves } from '@episodic/run/folder/plan/configuration'
import { hashModule } from '@episodic/run/folder/plan/content-hash'
import type { Announcement } from './fleet-messages.ts'
import type { FleetModels } from './fleet-models.ts'

/**
 * What a worker may play. A queue names runs; whatever they execute is here by the will of the worker's own operator.
 */
export interface WorkerScope {
  /** The worlds that it was given; `null` for those of its folder and the classics, by their names. */
  readonly worlds: readonly GivenWorld[] | null
  /** The folder whose files may be policies and agents. */
  readonly folder: string
  /** Whether it runs the commands of `process:<command>`. */
  readonly allowAgents: boolean
  readonly url?: string | undefined
  readonly token?: string | undefined
  /** The URL of the queue. Agents do not get its password. */
  readonly queue: string
  /** The server of language models that it sends its key to. */
  readonly baseUrl?: string | undefined
  /** The variables with keys that it uses, beside `OPENAI_API_KEY`. */
  readonly apiKeyEnvs: readonly string[]
  readonly concurrency: number
  readonly version: string
  readonly models: FleetModels
  /**
   * The SHA-256 of each module that this process may have loaded, by its file; what a run needs is added. A process
   * keeps a module as it was when it was loaded, also if its file is changed.
   */
  readonly loaded: Map<string, string>
}

export interface GivenWorld {
  readonly reference: string
  readonly world: World
}

/**
 * Opens an announced run for playing.
 *
 * @param run - its id in the queue.
 *
 * Rejects with `run-declined` if this worker must not or cannot play it, and as `joinRun` and `openRunner` do.
 */
export async function openAnnouncedRun(announcement: Announcement, scope: WorkerScope, run: string): Promise<Runner> {
  const { configuration, settings, episodic } = announcement
  if (episodic !== scope.version)
    throw declined(
      `the run is of Episodic ${episodic}, and this worker has ${scope.version}. Install the same version.`,
    )
  assertSlots(configuration, scope)
  assertServer(announcement, scope)
  const policies = [configuration.policy, ...Object.values(configuration.seats ?? {})]
  for (const policy of policies) await assertPolicy(policy, scope)
  const { token, queue, concurrency, models } = scope
  const { branch } = configuration
  const given = runSettingsSchema.parse({ ...settings, branch, token, queue, concurrency })
  const place = await findPlace(announcement, scope)
  const joined = await joinRun(configuration, place, given, { limit: models.limit, journal: null })
  const { name, version } = place.world.environment
  if (name !== configuration.environment.name || version !== configuration.environment.version)
    throw otherVersion(configuration.environment, { name, version })
  return openRunner(joined, keepsAnswers(joined) ? models.journalOf(run, recordingOf(given).redact) : null)
}

async function findPlace(announcement: Announcement, scope: WorkerScope): Promise<RunPlace> {
  const named = targetOf(scope, PLAYED_SERVERS)
  if (announcement.world) {
    const { reference, world } = await findWorld(announcement, scope)
    return { given: reference, world, named }
  }
  const { name } = announcement.configuration.environment
  // Elsewhere the name would be that of a module, which is executed.
  if (isOtherSystem(named)) return { given: name, world: await loadPlayedWorld(name, named), named }
  throw declined(
    `it names no module of ${name}, and this worker has no --url of another system's server that plays it.`,
  )
}

async function findWorld({ configuration, world }: Announcement, scope: WorkerScope): Promise<GivenWorld> {
  const { environment } = configuration
  const found = scope.worlds
    ? scope.worlds.find(({ world }) => world.environment.name === environment.name)
    : await worldByName(environment.name, scope)
  if (!found)
    throw declined(
      scope.worlds
        ? `it plays ${environment.name}, which this worker was not given. Start it with that world: episodic queue work <world>`
        : `it plays ${environment.name}, which is neither in examples/ nor worlds/ here nor a classic. Start the worker with that world: episodic queue work <world>`,
    )
  const { name, version } = found.world.environment
  if (name !== environment.name || version !== environment.version) throw otherVersion(environment, { name, version })
  if ((await readContent(fileURLToPath(found.world.url), scope)) !== world?.sha256)
    throw declined(
      `the module of ${environment.name} ${environment.version} has another content here. Install the same one, and start the worker again; if its behavior changed, give it a new version.`,
    )
  return found
}

async function worldByName(name: string, scope: WorkerScope): Promise<GivenWorld | null> {
  const file = locateByName(name, scope.folder)
  if (file === null) return null
  await readContent(file, scope)
  return { reference: file, world: await loadWorld(file) }
}

/** Resolves with the SHA-256 of a module when this process may have loaded it first, which it may do from now on. */
async function readContent(file: string, { loaded }: WorkerScope): Promise<string> {
  const content = loaded.get(file) ?? (await hashModule(file))
  loaded.set(file, content)
  return content
}

function otherVersion(asked: { name: string; version: string }, own: { name: string; version: string }): HarnessError {
  return declined(
    `it plays ${asked.name} ${asked.version}, and this worker has ${own.name} ${own.version}. Install that version.`,
  )
}

/** Throws `run-declined` if this worker cannot play the episodes of one tree at once. */
function assertSlots({ branch }: Announcement['configuration'], { concurrency }: WorkerScope): void {
  const leaves = branch.length > 0 ? countLeaves(branch) : 1
  if (leaves <= concurrency) return
  throw declined(
    `--branch plays ${leaves} episodes of a tree at once, and this worker has ${concurrency} slots. Start it with --concurrency ${leaves}.`,
  )
}

/** Throws `run-declined` if a run would send a token or a key elsewhere than this worker was given it for. */
function assertServer({ configuration, settings }: Announcement, scope: WorkerScope): void {
  const { url, baseUrl, apiKeyEnv, recordModels } = settings
  if (url !== scope.url)
    throw declined(
      url === undefined
        ? `this worker is for runs of --url ${scope.url}.`
        : `it is played on the server ${url}. Start the worker with that --url and its token.`,
    )
  if (!recordModels && !asksModels(configuration)) return
  if (baseUrl !== scope.baseUrl)
    throw declined(
      `it asks language models at ${baseUrl ?? 'the default server'}, and this worker has ${scope.baseUrl ?? 'none of its own'}. Start the worker with the same --base-url or OPENAI_BASE_URL, and its key.`,
    )
  if (apiKeyEnv !== undefined && !scope.apiKeyEnvs.includes(apiKeyEnv))
    throw declined(`it uses the key in ${apiKeyEnv}. Start the worker with --api-key-env ${apiKeyEnv}.`)
}

/** Throws `run-declined` if a policy is none of a world, and not a file of this worker with the same content. */
async function assertPolicy(
  { name, sha256 }: Announcement['configuration']['policy'],
  { folder, allowAgents, loaded }: WorkerScope,
): Promise<void> {
  const file = policyFileOf(name, folder)
  if (!file) {
    if (isAgentName(name) && !allowAgents)
      throw declined(`it runs the command ${name}. Start the worker with --allow-agents to permit that.`)
    return
  }
  if (!(await isWithin(file, realpathSync(folder))))
    throw declined(`its policy ${name} is not in the folder of this worker, ${folder}. Copy it there.`)
  const own = loaded.get(file)
  if ((own ?? (await hashModule(file))) !== sha256)
    throw declined(
      `its policy ${name} has another content ${own === undefined ? 'here' : 'in this process'}. Copy the file from where the run was started${own === undefined ? '' : ', and start the worker again'}.`,
    )
  loaded.set(file, sha256)
}

function declined(why: string): HarnessError {
  return new HarnessError('run-declined', why.charAt(0).toUpperCase() + why.slice(1))
}
