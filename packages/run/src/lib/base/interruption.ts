import { type Console, resumeCommand } from './console.ts'

export type Interruption = ReturnType<typeof untilInterrupted>

/** Handles SIGINT and SIGTERM until it is disposed of. A second signal ends the process at once. */
export function untilInterrupted({ err }: Console) {
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
    /** The exit status, as in shells: 130 for SIGINT, 143 for SIGTERM; `null` without a signal. */
    get status() {
      return status
    },
    [Symbol.dispose]() {
      process.off('SIGINT', onSignal)
      process.off('SIGTERM', onSignal)
    },
  }
}

/**
 * Does what a signal may interrupt. Resolves with `null`, and sets the exit status of the signal, if that has ended it.
 */
export async function interruptible<T>(
  console: Console,
  act: (interruption: Interruption) => Promise<T>,
): Promise<T | null> {
  using interruption = untilInterrupted(console)
  const { signal } = interruption
  try {
    return await act(interruption)
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error
    process.exitCode = interruption.status ?? 1
    return null
  }
}

/**
 * Plays what can be resumed. If it was not played to its end, resolves with `null`, sets the exit status and shows how
 * to resume it.
 *
 * @param what - such as `The suite`.
 * @param play - is given a function that returns the line which resumes it, for those who show that themselves.
 */
export async function playToEnd<T>(
  { what, folder }: { readonly what: string; readonly folder: string },
  console: Console,
  play: (resume: () => string, signal: AbortSignal) => Promise<T | null>,
): Promise<T | null> {
  let shown = false
  const resume = () => {
    shown = true
    return resumeCommand(folder)
  }
  const result = await interruptible(console, async (interruption) => {
    const played = await play(resume, interruption.signal)
    if (played === null) process.exitCode = interruption.status ?? 1
    return played
  })
  if (result === null && !shown) console.err.write(`${what} is not finished. To finish it:\n  ${resume()}\n`)
  return result
}
