import { readFileSync } from 'node:fs'

/** Clock ticks a second of `/proc`, on every architecture that Node runs on. */
const TICKS = 100

/** The CPU time of a process and its descendants, user and system, in seconds. Reads `/proc`, so on Linux alone. */
export function readCpu(pid: number): number {
  return sum(pid, (id) => {
    const text = readFileSync(`/proc/${id}/stat`, 'utf8')
    // The name of a program may contain spaces and brackets.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [user, system, userOfEnded, systemOfEnded] = fields.slice(11, 15).map(Number) as [
      number,
      number,
      number,
      number,
    ]
    return (user + system + userOfEnded + systemOfEnded) / TICKS
  })
}

/** The resident memory of a process and its descendants, in bytes. */
export function readResident(pid: number): number {
  return sum(pid, (id) => {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? []
    return Number(kilobytes) * 1_024
  })
}

function sum(pid: number, of: (pid: number) => number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return of(pid) + children.reduce((total, child) => total + sum(Number(child), of), 0)
}
