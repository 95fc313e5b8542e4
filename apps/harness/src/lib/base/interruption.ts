import type { Console } from './console.ts'

/** Handles SIGINT and SIGTERM. A second signal ends the process at once. */
export interface Interruption {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal
  /** The exit status, as in shells: 130 for SIGINT, 143 for SIGTERM; `null` without a signal. */
  readonly status: number | null
  /** Stops handling signals. */
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
