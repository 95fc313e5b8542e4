import { readdirSync, readFileSync } from 'node:fs'
import { until } from '../until.ts'

/** The resources that a process uses. */
export interface Resources {
  /** Resident memory, in bytes. */
  readonly resident: number
  /** Open files and sockets. */
  readonly files: number
}

/** Reads the resources of a process from Linux' `/proc`. */
export function resourcesOf(pid: number): Resources {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return { resident: Number(kibibytes) * 1_024, files: readdirSync(`/proc/${pid}/fd`).length }
}

/**
 * Bytes that a server may have grown by: its cached sessions, and a heap that settles after some ten thousand calls.
 */
const GROWTH = 256 * 1_048_576
/** Files and sockets that may stay open for a short time. */
const LEFT_OPEN = 8

/**
 * O8: waits until a server uses no more than `before`, plus a tenth and a fixed growth. Resolves with what it then
 * uses.
 */
export async function resourcesHold(pid: number, before: Resources): Promise<{ holds: boolean; after: Resources }> {
  const within = ({ files, resident }: Resources) =>
    files <= before.files + LEFT_OPEN && resident <= before.resident * 1.1 + GROWTH
  const holds = await until(() => within(resourcesOf(pid)), 'the server has let go of what it used', 10).then(
    () => true,
    () => false,
  )
  return { holds, after: resourcesOf(pid) }
}
