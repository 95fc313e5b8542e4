import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Identifies the processes among which a number names one: those of this start of the machine, and of this container. A
 * host name does not: containers and cloned machines may share it. Outside of Linux, where it is all that is known, it
 * has to do.
 */
export function processTable(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

export function isAlive(pid: number): boolean {
  // This process is not the one that is asked for: it has the number of one that ended.
  if (pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
