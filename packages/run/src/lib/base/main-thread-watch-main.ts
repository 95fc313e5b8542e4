import { writeSync } from 'node:fs'
import { Session } from 'node:inspector'
import { workerData } from 'node:worker_threads'
import type { WatchData } from './main-thread-watch.ts'

/** Beats of this thread without one of the main thread, after which that counts as blocked: 10 seconds. */
const MOST_MISSED = 20

const { beats, beat, onBlocked, isForked } = workerData as WatchData
const count = new Int32Array(beats)
const parent = process.ppid
let last = 0
let missed = 0

// Counted in beats of this thread, and not by a clock: a process that is suspended misses none.
setInterval(() => {
  const now = Atomics.load(count, 0)
  missed = now === last ? missed + 1 : 0
  last = now
  if (missed === MOST_MISSED) report()
  // Nobody waits for the work of a process whose parent is gone, and it cannot notice that itself.
  if (missed > MOST_MISSED && isForked && process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
}, beat)

/** Interrupts the code of the main thread for a moment, and says where it is. */
function report(): void {
  const session = new Session()
  session.connectToMainThread()
  session.post('Runtime.evaluate', { expression: onBlocked, returnByValue: true }, (_, answer) => {
    session.disconnect()
    const frames: string[] = answer?.result?.value ?? []
    // Our own code may compute for long, too.
    if (frames.length === 0 || Atomics.load(count, 0) !== last) return
    writeSync(
      2,
      `\nThis code has run for ${(MOST_MISSED * beat) / 1_000} s without a break, and nothing else can go on meanwhile:\n${frames.join('\n')}\nIf it never returns, correct it. Ctrl-C ends the process now.\n`,
    )
  })
}
