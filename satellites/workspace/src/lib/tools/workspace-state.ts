import { z } from 'zod'
import { type Disk, disk } from '../disk/disk.ts'
import { sizeOf } from '../disk/file-content.ts'
import { openStatements } from '../sql/open-statement.ts'
import { variables } from '../workers/job-result.ts'

const shell = z.strictObject({
  /** The directory in which the next command begins; `null` for the one in which the shell begins. */
  cwd: z.string().nullable(),
  /** The variables that commands have set, by name: exported ones, and others. */
  variables,
  /** Bytes of all files together. */
  bytes: z.int(),
  /** Counts the calls of the tools: each draws its own chance. */
  calls: z.int(),
  /** Transactions of databases that are open between two calls, by the path of the database. */
  transactions: z.array(z.strictObject({ database: z.string(), statements: openStatements })),
})

/** The fields of a private state that make it a workspace: spread them into its schema. */
export const workspaceState = { disk, shell }

export interface WorkspaceState {
  disk: Disk
  shell: z.output<typeof shell>
}

export interface WorkspaceStart {
  readonly variables?: Readonly<Record<string, string>>
}

/** Returns the fields of a private state that begins with a disk. */
export function startWorkspace(disk: Disk, { variables = {} }: WorkspaceStart = {}): WorkspaceState {
  return {
    disk,
    shell: { bytes: bytesOn(disk), cwd: null, variables: Object.entries(variables), calls: 0, transactions: [] },
  }
}

/** Sums of disks that many sessions begin with. */
const sums = new WeakMap<Disk, number>()

function bytesOn(disk: Disk): number {
  const known = sums.get(disk)
  if (known !== undefined) return known
  let bytes = 0
  for (const entry of Object.values(disk))
    if (entry.kind === 'text' || entry.kind === 'bytes')
      bytes += entry.kind === 'text' ? sizeOf(entry.text) : entry.size
  if (Object.isFrozen(disk)) sums.set(disk, bytes)
  return bytes
}
