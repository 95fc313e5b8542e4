import { readFileSync } from 'node:fs'

/** The longest turn of the event loop in a stretch of work, in milliseconds. */
export interface LongestTurn {
  /** By the clock on the wall: with what other programs on the machine take. */
  readonly stall: number
  /** By the CPU that this process used in it. */
  readonly work: number
}

/** Runs something, and watches every turn of the event loop meanwhile. */
export async function longestTurn(run: () => Promise<unknown>): Promise<LongestTurn> {
  let [stall, work] = [0, 0]
  let [wall, cpu] = [performance.now(), usedCpu()]
  let watching = true
  const look = () => {
    const [wallNow, cpuNow] = [performance.now(), usedCpu()]
    stall = Math.max(stall, wallNow - wall)
    work = Math.max(work, cpuNow - cpu)
    ;[wall, cpu] = [performance.now(), usedCpu()]
    if (watching) setImmediate(look)
  }
  setImmediate(look)
  await run()
  watching = false
  await new Promise((resolve) => setImmediate(resolve))
  return { stall, work }
}

/** Milliseconds of CPU that the main thread has used. Linux counts them in nanoseconds; elsewhere less finely. */
function usedCpu(): number {
  if (process.platform === 'linux') return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[0]) / 1e6
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
