import type { Log } from './log.ts'

/** Seconds that calls in flight have to be answered in. */
const DRAIN_SECONDS = 10
/** Seconds after which whatever still keeps the process is left behind. */
const LEAVE_SECONDS = DRAIN_SECONDS + 1

/**
 * Resolves at Ctrl-C, at a termination request, or where asked for when whoever started this goes away. A further signal
 * ends the process at once.
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

/** A server that can stop in an orderly way, and says how many calls it left unanswered. */
interface Drainable {
  drain(options: { readonly signal: AbortSignal }): Promise<number>
}

/** Answers what is in flight and takes nothing new, for at most 10 seconds. What was answered is in the store. */
export async function drain(servers: readonly Drainable[], log: Log): Promise<void> {
  log.info('stopping')
  setTimeout(() => process.exit(1), LEAVE_SECONDS * 1_000).unref()
  const signal = AbortSignal.timeout(DRAIN_SECONDS * 1_000)
  const left = await Promise.all(servers.map((server) => server.drain({ signal })))
  const unanswered = left.reduce((sum, calls) => sum + calls, 0)
  if (unanswered > 0) log.warn({ calls: unanswered }, 'stopped before some calls were answered')
  else log.info('stopped')
}
