import type { Console } from './console.ts'

/** A signal that Ctrl-C and a termination request abort. A second one ends the process at once. */
export function untilInterrupted({ err }: Console): { readonly signal: AbortSignal; stop(): void } {
  const abort = new AbortController()
  const onSignal = (name: NodeJS.Signals) => {
    if (abort.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143)
    err.write('\nStopping. Once more stops at once.\n')
    abort.abort(new Error(`stopped by ${name}`))
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return {
    signal: abort.signal,
    stop() {
      process.off('SIGINT', onSignal)
      process.off('SIGTERM', onSignal)
    },
  }
}
