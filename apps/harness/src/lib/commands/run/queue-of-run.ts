import type { OpenRunner } from '@episodic/play/play/play-run'
import type { RunSettings } from '@episodic/play/play/run-settings'
import type { Console } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'

// The fleet is large, and most runs have no queue: it is loaded for those that have one.

/** Returns what opens the queue that a run is played over; `undefined` without `--queue`. */
export async function openQueue(settings: Pick<RunSettings, 'queue' | 'lease'>): Promise<OpenRunner | undefined> {
  if (settings.queue === undefined) return undefined
  const { fleetOf } = await import('@episodic/fleet/open-fleet')
  return fleetOf(settings.queue, settings)
}

/** Serves metrics of the queue of a run. Rejects with `option-invalid` if it has none. */
export async function openMetrics(
  { queue: url }: RunSettings,
  port: number,
  address: string,
  { err }: Console,
): Promise<AsyncDisposable> {
  if (url === undefined) throw invalidOption('--metrics-port shows a queue: give --queue too, or leave it out.')
  const { openRedisQueue } = await import('@episodic/fleet/redis/open-redis-queue')
  const { serveMetrics } = await import('@episodic/fleet/serve-metrics')
  await using opened = new AsyncDisposableStack()
  const queue = opened.use(await openRedisQueue(url))
  const metrics = opened.use(await serveMetrics(queue, { port, address }))
  err.write(`Metrics at ${metrics.url}/metrics\n`)
  return opened.move()
}
