import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import { openFleetModels } from '@episodic/fleet/fleet-models'
import { metricsOptions } from '@episodic/fleet/metrics-options'
import { type GivenWorld, openAnnouncedRun, type WorkerScope } from '@episodic/fleet/open-announced-run'
import { signerOfEnvironment } from '@episodic/fleet/open-fleet'
import { playFleet } from '@episodic/fleet/play-fleet'
import { openRedisQueue } from '@episodic/fleet/redis/open-redis-queue'
import { serveMetrics } from '@episodic/fleet/serve-metrics'
import { baseUrlSchema } from '@episodic/models/model-options'
import { leaseOptions } from '@episodic/play/play/run-settings'
import { loadWorld } from '@episodic/play/worlds/world'
import { type Console, say } from '@episodic/run/base/console'
import { untilInterrupted } from '@episodic/run/base/interruption'
import { textOrFile, texts, wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { VERSION } from '@episodic/run/base/own-package'
import { hashModule } from '@episodic/run/folder/plan/content-hash'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

/** Episodes at once, as of a run in one process. */
const CONCURRENCY = 64

const workOptions = z.object({
  queue: option('<url>', 'the queue, a Redis: redis://<host>:<port>', z.string()),
  concurrency: option('<count>', 'episodes in flight at once', wholeNumber(1, 65_536).default(CONCURRENCY)),
  allowAgents: flag('run the commands of process:<command>, which anyone who writes to the queue may name'),
  url: option('<url>', 'play runs of this server of worlds'),
  token: option('<token>', 'its bearer token, or @<file> with it (default: EPISODIC_TOKEN)', z.string().optional(), {
    text: textOrFile,
  }),
  baseUrl: option('<url>', 'play with models of this server (default: OPENAI_BASE_URL)', baseUrlSchema.optional()),
  apiKeyEnv: option('<name>', 'a variable with a key for models; can be repeated', texts, { usual: 'none' }),
  ...leaseOptions.shape,
  json: flag('print a line of JSON when it has joined the queue'),
  ...metricsOptions.shape,
})
type WorkOptions = z.infer<typeof workOptions>

export const work = defineCommand('work', workOptions, {
  description: 'play for the runs of the queue, until it is stopped',
  argument: ['[worlds...]', 'worlds that it may play (default: those of this folder, and the classics)'],
  help: `
A worker joins and leaves while runs go on. It plays every run whose world it
has in the same version, and says which it does not play, and why. What it
executes is here already: worlds of its command line or folder, and policy files
of its folder with the same content as where the run was started.

Ctrl-C gives its episodes back to the other workers. With EPISODIC_QUEUE_SECRET,
the same for runs and workers, it plays only what is signed with that.
EPISODIC_QUEUE_PASSWORD is the password of a --queue that has none.

Examples:
  episodic queue work --queue redis://10.0.0.5:6379
  episodic queue work warehouse ./my-world --queue redis://10.0.0.5:6379
  episodic run warehouse --tasks 100000 --queue redis://10.0.0.5:6379`,
  run: playForQueue,
})

async function playForQueue(references: readonly string[], options: WorkOptions, console: Console): Promise<void> {
  const { queue: url, concurrency, allowAgents = false, apiKeyEnv, json } = options
  using interruption = untilInterrupted(console)
  const { signal } = interruption
  const onNotice = (notice: string) => say(console.err, notice)
  const lease = options.lease === undefined ? undefined : 1_000 * options.lease
  const worlds: GivenWorld[] = []
  const loaded = new Map<string, string>()
  for (const reference of references) {
    const world = await loadWorld(reference)
    const file = fileURLToPath(world.url)
    loaded.set(file, await hashModule(file))
    worlds.push({ reference, world })
  }
  await using queue = await openRedisQueue(url, { onNotice, lease, signal })
  const signer = signerOfEnvironment()
  await using models = await openFleetModels(url, signer, signal)
  await using metrics =
    options.metricsPort === undefined
      ? null
      : await serveMetrics(queue, { port: options.metricsPort, address: options.metricsAddress })
  if (metrics) onNotice(`Metrics at ${metrics.url}/metrics`)
  const worker = {
    id: randomUUID(),
    host: hostname(),
    pid: process.pid,
    version: VERSION,
    slots: concurrency,
    worlds: worlds.map(({ world: { environment } }) => `${environment.name} ${environment.version}`),
  }
  const scope: WorkerScope = {
    worlds: worlds.length > 0 ? worlds : null,
    folder: process.cwd(),
    allowAgents,
    url: options.url,
    token: options.token ?? process.env.EPISODIC_TOKEN,
    queue: url,
    baseUrl: options.baseUrl ?? process.env.OPENAI_BASE_URL,
    apiKeyEnvs: apiKeyEnv,
    concurrency,
    version: VERSION,
    models,
    loaded,
  }
  if (json) console.out.write(`${JSON.stringify({ worker: worker.id, host: worker.host, pid: worker.pid })}\n`)
  else onNotice(`Waiting for runs, with ${concurrency} slots. Ctrl-C gives back what is being played.`)
  await playFleet({
    queue,
    worker,
    openRun: (announcement, run) => openAnnouncedRun(announcement, scope, run),
    signer,
    onNotice,
    signal,
    lease,
    wallClock: Date.now,
  })
}
