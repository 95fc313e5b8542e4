import { AsyncLocalStorage } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import type { ContainedCall, Containment, Stray } from '../host/containment.ts'
import { ServerError } from '../server-error.ts'

export interface ProcessContainmentOptions {
  /** Takes what belongs to no call. The process goes on after it, so this should log it and count it. */
  readonly onStray: (stray: Stray) => void
}

/** Disposing of it gives the process back its own handling. */
export interface ProcessContainment extends Containment, Disposable {}

/** What ends the process. */
const ENDINGS = ['exit', 'reallyExit', 'abort', 'kill'] as const

/**
 * Keeps this process alive whatever environments' code leaves behind, for the program that owns the process: a server that
 * holds sessions of many. Hand it to `createHost` as `containment`, and create it before the modules of the environments are
 * loaded.
 *
 * While it exists, unhandled rejections and uncaught exceptions do not end the process. One that `AsyncLocalStorage` traces back
 * to an environment's code is reported to the call that caused it; any other to `onStray`. In an
 * environment's code, and in all that this starts, `process.exit`, `process.abort` and `process.kill` of this process throw.
 *
 * Where standard error cannot be written to, the process ends with status 1.
 *
 * Not held up: code that never returns, a heap that is full, a crash of native code, and code that takes these handlers away.
 */
export function containProcess({ onStray }: ProcessContainmentOptions): ProcessContainment {
  const calls = new AsyncLocalStorage<ContainedCall>()
  const handle = (kind: Stray['kind']) => (cause: unknown) => {
    const call = calls.getStore()
    if (call) call.escaped(cause)
    else onStray({ kind, cause })
  }
  const [onRejection, onException] = [handle('rejection'), handle('exception')]
  const exit = process.exit.bind(process)
  // Nothing can be logged any more, and each attempt would be the next exception. Outside of any call: the write may have been
  // an environment's, whose code cannot end the process.
  const onLogLost = () => calls.exit(() => exit(1))
  const restores = ENDINGS.map((name) => guardEnding(name, calls))
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  process.stderr.on('error', onLogLost)
  syncBuiltinESMExports()
  return {
    run: (call, run) => calls.run(call, run),
    [Symbol.dispose]() {
      process.off('unhandledRejection', onRejection)
      process.off('uncaughtException', onException)
      process.stderr.off('error', onLogLost)
      for (const restore of restores) restore()
      syncBuiltinESMExports()
    },
  }
}

type Ending = (...given: unknown[]) => unknown

/** Has a function that ends the process throw in an environment's code. The returned function takes that back. */
function guardEnding(name: (typeof ENDINGS)[number], calls: AsyncLocalStorage<ContainedCall>): () => void {
  const owner = process as unknown as Record<string, Ending>
  const original = owner[name] as Ending
  const guarded: Ending = (...given) => {
    const call = calls.getStore()
    if (call && (name !== 'kill' || isOwn(given[0])))
      throw new ServerError(
        'rules-failed',
        `The code of ${call.environment} called process.${name}, which would end the server. End an episode with end(reason).`,
      )
    return Reflect.apply(original, process, given)
  }
  owner[name] = guarded
  return () => {
    // Another containment that was made later and is still there calls what it found.
    if (owner[name] === guarded) owner[name] = original
  }
}

/** Whether a process id of `process.kill` means this process: by itself, or with its group. */
function isOwn(pid: unknown): boolean {
  return Number(pid) <= 0 || Number(pid) === process.pid
}
