import { hash } from 'node:crypto'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Runner } from '@episodic/play/play/episodes/open-runner'
import { keepsAnswers, type Run } from '@episodic/play/play/find-run'
import type { OpenRunner } from '@episodic/play/play/play-run'
import { type PlaySettings, playSettingsSchema, type RunSettings } from '@episodic/play/play/run-settings'
import { isServed } from '@episodic/play/worlds/served-world'
import { canonicalJson } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import { VERSION } from '@episodic/run/base/own-package'
import { countLeaves } from '@episodic/run/folder/plan/configuration'
import { hashModule } from '@episodic/run/folder/plan/content-hash'
import { runIdOf } from '@episodic/run/folder/record/run-folder'
import { type Announcement, signedPlaces } from './fleet-messages.ts'
import { openFleetModels } from './fleet-models.ts'
import { FleetRunner } from './fleet-runner.ts'
import { processTable } from './process-table.ts'
import { openRedisQueue } from './redis/open-redis-queue.ts'
import { createSigner, type Signer } from './signer.ts'

/** The variable of the secret that coordinators and workers share. */
const SECRET_VARIABLE = 'EPISODIC_QUEUE_SECRET'

export function signerOfEnvironment(): Signer {
  return createSigner(process.env[SECRET_VARIABLE] || null)
}

/** @param queue - the URL of the Redis. @param lease - in seconds. Default: that of the port. */
export function fleetOf(queue: string, { lease }: Pick<RunSettings, 'lease'>): OpenRunner {
  return (...run) => openFleet(queue, lease && 1_000 * lease, ...run)
}

/**
 * Opens the fleet of a queue for a run: other processes play it, on any machine, see {@link FleetRunner}.
 *
 * Rejects with `option-invalid` for options that a fleet does not have, and as `openRedisQueue` does.
 *
 * @param url - that of the Redis.
 * @param lease - in milliseconds. Default: that of the port.
 */
async function openFleet(
  url: string,
  lease: number | undefined,
  ...[run, { warn, signal }]: Parameters<OpenRunner>
): Promise<Runner> {
  assertForFleet(run)
  const { world, configuration } = run
  const sha256 = isServed(world) ? null : await hashModule(fileURLToPath(world.url))
  await using opened = new AsyncDisposableStack()
  const ending = new AbortController()
  const end = AbortSignal.any([signal, ending.signal])
  const signer = signerOfEnvironment()
  const models = keepsAnswers(run) ? opened.use(await openFleetModels(url, signer, end)) : null
  const queue = await openRedisQueue(url, { onNotice: warn, lease, signal: end })
  let id = ''
  const runner = new FleetRunner({
    queue,
    signer,
    warn,
    signal,
    lease,
    leaves: countLeaves(configuration.branch),
    owner: { host: hostname(), pid: process.pid, processes: processTable() },
    entryOf(manifest, elapsed) {
      id = runIdOf(manifest)
      const announcement: Announcement = {
        format: 1,
        name: manifest.name,
        episodic: VERSION,
        // That of `run.json`: a dataset may have another name now.
        configuration: manifest.configuration,
        settings: playSettingsOf(run),
        world: sha256 === null ? null : { sha256 },
      }
      return {
        id,
        announcement: signer.sign(signedPlaces.announcement(id), JSON.stringify(announcement)),
        digest: hash('sha256', canonicalJson(JSON.parse(JSON.stringify(manifest.configuration)))),
        elapsed,
      }
    },
  })
  opened.use(runner)
  // A run that is over does not wait for a queue that does not answer either.
  opened.defer(() => ending.abort())
  const owned = opened.move()
  return {
    ...runner,
    onStored(record) {
      // The answers of its episode are in the file of the run now.
      models?.discard(id, record)
      runner.onStored?.(record)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Returns how workers play. They have keys, tokens and files of their own. */
function playSettingsOf({ settings }: Run): PlaySettings {
  const baseUrl = settings.baseUrl ?? process.env.OPENAI_BASE_URL
  return playSettingsSchema.parse({ ...settings, ...(baseUrl && { baseUrl }) })
}

function assertForFleet({ settings }: Run): void {
  if (settings.processes > 1)
    throw invalidOption(
      '--processes starts workers on this machine, and --queue uses those that are there. Give one of them; start more workers with: episodic queue work --queue …',
    )
  if (settings.config !== undefined)
    throw invalidOption(
      '--config names servers of this machine, which the workers of --queue do not have. Give --url, or neither.',
    )
}
