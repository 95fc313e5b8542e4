import { url as debuggerUrl } from 'node:inspector'
import { setImmediate } from 'node:timers'
import { Worker } from 'node:worker_threads'
import { ownFrames } from '@episodic/mcp-server/internal'

export interface WatchData {
  /** Counts up while the main thread goes on. */
  readonly beats: SharedArrayBuffer
  readonly beat: number
  /** An expression that calls {@link onBlocked} in the main thread. */
  readonly onBlocked: string
  /** Whether another process of ours started this one and talks to it. */
  readonly isForked: boolean
}

const ENTRY = new URL(`./main-thread-watch-main.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)

const BEAT = 500
const BLOCKED = 'episodic.blocked'

/**
 * Watches from another thread whether the code of this one returns, until the process ends. Code that runs for 10
 * seconds without a break, such as an endless loop in the rules of a world, blocks everything, the handlers of SIGINT
 * and SIGTERM included. The watching thread then writes to standard error where the code is, and gives both signals
 * their default effect, to end the process, until the code returns.
 */
export function watchMainThread(): void {
  // A debugger stops code for as long as a person looks at it.
  if (debuggerUrl() !== undefined) return
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const count = new Int32Array(beats)
  setInterval(() => Atomics.add(count, 0, 1), BEAT).unref()
  Object.defineProperty(globalThis, Symbol.for(BLOCKED), { value: onBlocked })
  const data: WatchData = {
    beats,
    beat: BEAT,
    onBlocked: `globalThis[Symbol.for('${BLOCKED}')]()`,
    isForked: process.send !== undefined,
  }
  new Worker(ENTRY, { workerData: data }).unref()
}

/**
 * Is called in the midst of the code that blocks this thread. Returns the frames of an author's code, innermost first.
 */
function onBlocked(): string[] {
  const kept = (['SIGINT', 'SIGTERM'] as const).map((name) => ({ name, listeners: process.rawListeners(name) }))
  // Without listeners, a signal ends the process.
  for (const { name } of kept) process.removeAllListeners(name)
  setImmediate(() => {
    for (const { name, listeners } of kept)
      for (const listener of listeners) process.on(name, listener as NodeJS.SignalsListener)
  })
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 50
  const here = new Error('blocked')
  Error.stackTraceLimit = stackTraceLimit
  // The first frame is the call of this function.
  return ownFrames(here).filter((frame) => !/^\s+at <anonymous>:1:/.test(frame))
}
