/**
 * Loaded into a server before its program (`--import`), with `--expose-gc`: at each SIGUSR2 it appends a line of JSON
 * to `meter.jsonl` in the folder that the server was started in, what a `Reading` holds, and begins anew.
 */
import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/** Milliseconds between two looks at the CPU. A turn that is shorter is not seen. */
const TICK = 5

/** What a server has measured of itself since the last reading. */
export interface Reading {
  /** Bytes of the heap and of buffers that are in use, after a collection. */
  readonly held: number
  /**
   * Milliseconds of CPU that the main thread used between two ticks of a timer, at most: the longest turn of the event
   * loop, and a tick at most besides. What other programs took of the machine is not in it.
   */
  readonly turn: number
}

if (isMainThread) {
  let [before, turn] = [usedCpu(), 0]
  setInterval(() => {
    const now = usedCpu()
    turn = Math.max(turn, now - before)
    before = now
  }, TICK).unref()
  process.on('SIGUSR2', async () => {
    // Twice: what was just closed is let go of in the turn after.
    globalThis.gc?.()
    await new Promise(setImmediate)
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()
    const reading: Reading = { held: heapUsed + external, turn }
    appendFileSync('meter.jsonl', `${JSON.stringify(reading)}\n`)
    ;[before, turn] = [usedCpu(), 0]
  })
}

/** Milliseconds of CPU that the main thread has used, as Linux counts them. */
function usedCpu(): number {
  return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[0]) / 1e6
}
