import type { Console } from './console.ts'

/** What a command knows of Ctrl-C and of a termination request. A second one ends the process at once. */
export interface Interruption {
  /** Aborts at the first. */
  readonly signal: AbortSignal
  /** The exit status that says so, as shells have it: 130, or 143; `null` where there was none. */
  readonly status: number | null
  /** Stops listening. */
  stop(): void
}

export function untilInterrupted({ err }: Console): Interruption {
  const abort = new AbortController()
  let status: number | null = null
  const onSignal = (name: NodeJS.Signals) => {
    status = name === 'SIGINT' ? 130 : 143
    if (abort.signal.aborted) process.exit(status)
    err.write('\nStopping. Once more stops at once.\n')
    abort.abort(new Error(`stopped by ${name}`))
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return {
    signal: abort.signal,
    get status() {
      return status
    },
    stop() {
      process.off('SIGINT', onSignal)
      process.off('SIGTERM', onSignal)
    },
  }
}
