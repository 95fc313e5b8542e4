import { readFileSync } from 'node:fs'

/** Clock ticks a second of `/proc`, on every architecture that Node runs on. */
const TICKS = 100

/** The CPU time of a process and its descendants, user and system, in seconds. Reads `/proc`, so on Linux alone. */
export function readCpu(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of a program may contain spaces and brackets. Both times, also those of children that ended.
  const ticks = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number)
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return (
    ticks.reduce((sum, each) => sum + each, 0) / TICKS +
    children.reduce((sum, child) => sum + readCpu(Number(child)), 0)
  )
}
