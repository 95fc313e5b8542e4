import { AsyncLocalStorage } from 'node:async_hooks'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { ContainedCall, Containment, Stray } from '../host/operate/containment.ts'
import { rulesFailed } from '../server-error.ts'

export interface ProcessContainmentOptions {
  /** Is called with an error that belongs to no call. The process goes on, so this should log and count it. */
  readonly onStray: (stray: Stray) => void
}

/** Disposing of it restores the handlers of the process. */
export interface ProcessContainment extends Containment, Disposable {}

const ENDINGS = ['exit', 'reallyExit', 'abort', 'kill'] as const

/**
 * Keeps this process alive when environments' code leaves errors behind. For the program that owns the process, a
 * server with sessions of many clients. Pass it to `createHost` as `containment`, and create it before the modules of
 * the environments are loaded.
 *
 * While it exists, unhandled rejections and uncaught exceptions do not end the process. One that `AsyncLocalStorage`
 * traces back to an environment's code is reported to the call that caused it; any other to `onStray`. In an
 * environment's code, and in everything that this starts, `process.exit`, `process.abort` and `process.kill` of this
 * process throw.
 *
 * If standard error cannot be written to, the process ends with status 1.
 *
 * Does not contain code that never returns, a full heap, a crash of native code, or code that removes these handlers.
 */
export function containProcess({ onStray }: ProcessContainmentOptions): ProcessContainment {
  const calls = new AsyncLocalStorage<ContainedCall>()
  const handle = (kind: Stray['kind']) => (cause: unknown) => {
    const call = calls.getStore()
    // What answers it is not the environment's code, and may end the process.
    calls.exit(() => (call ? call.escaped(cause) : onStray({ kind, cause })))
  }
  const [onRejection, onException] = [handle('rejection'), handle('exception')]
  const exit = process.exit.bind(process)
  // Nothing can be logged any more, and each attempt would raise the next exception. `calls.exit` because the write may
  // have been an environment's, whose code cannot end the process.
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

/** Makes a function that ends the process throw in an environment's code. The returned function undoes that. */
function guardEnding(name: (typeof ENDINGS)[number], calls: AsyncLocalStorage<ContainedCall>): () => void {
  const owner = process as unknown as Record<string, Ending>
  const original = owner[name] as Ending
  const guarded: Ending = (...given) => {
    const call = calls.getStore()
    if (call && (name !== 'kill' || isOwn(given[0])))
      throw rulesFailed(
        `The code of ${call.environment} called process.${name}, which would end the server. End an episode with end(reason).`,
      )
    return Reflect.apply(original, process, given)
  }
  owner[name] = guarded
  return () => {
    // A containment that was created later and still exists calls the function that it found.
    if (owner[name] === guarded) owner[name] = original
  }
}

/** Whether a process id means this process or its group. A world may end the programs that it has started. */
function isOwn(pid: unknown): boolean {
  const id = Number(pid)
  if (id >= -1) return id === process.pid || id <= 0
  group ??= ownGroup()
  return group === 'unknown' || id === -group
}

let group: number | 'unknown' | undefined

function ownGroup(): number | 'unknown' {
  try {
    // After the name, which is in brackets: its state, its parent, its group.
    return Number(readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ')[2])
  } catch {
    // A system without /proc.
    const { stdout } = spawnSync('ps', ['-o', 'pgid=', '-p', String(process.pid)], { encoding: 'utf8' })
    return Number.parseInt(stdout, 10) || 'unknown'
  }
}
