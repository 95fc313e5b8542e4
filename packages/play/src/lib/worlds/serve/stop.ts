import type { HttpServer } from '@episodic/mcp-server/http'
import type { Log } from './log.ts'

/** Seconds in which calls in flight must be answered. */
const DRAIN_SECONDS = 10
/** Seconds after which the process ends even if something keeps it alive. */
const EXIT_SECONDS = DRAIN_SECONDS + 1

/**
 * Resolves at SIGINT or SIGTERM; with `withInput`, also when standard input ends, as when the parent process is gone. A
 * second signal ends the process at once.
 */
export function stopped(withInput: boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let asked = false
  const ask = (status: number) => {
    if (asked) process.exit(status)
    asked = true
    resolve()
  }
  process.on('SIGINT', () => ask(130)).on('SIGTERM', () => ask(143))
  if (withInput) process.stdin.resume().once('end', resolve)
  return promise
}

/** Answers calls in flight and accepts no new ones, for at most 10 seconds. Every answered step is in the store. */
export async function drain(servers: readonly Pick<HttpServer, 'drain'>[], log: Log): Promise<void> {
  log.info('stopping')
  setTimeout(() => process.exit(1), EXIT_SECONDS * 1_000).unref()
  const signal = AbortSignal.timeout(DRAIN_SECONDS * 1_000)
  const left = await Promise.all(servers.map((server) => server.drain({ signal })))
  const unanswered = left.reduce((sum, calls) => sum + calls, 0)
  if (unanswered > 0) log.warn({ calls: unanswered }, 'stopped before some calls were answered')
  else log.info('stopped')
}
