import { type Disk, EPOCH, type ReadOnlyDisk } from '../disk/disk.ts'
import { FULL_ACCESS } from '../disk/edited-disk.ts'
import type { Language } from '../shell/shell-parts.ts'
import { JobEnded, runJob } from '../workers/command-pool.ts'

/** How a command is run that judges a disk. */
export interface CommandOptions {
  /** The directory that it is run in. Default `/`. */
  readonly cwd?: string
  /** Files that are on the disk for this command alone, such as hidden tests: a disk of `createDisk`. */
  readonly files?: Disk
  readonly languages?: readonly Language[]
  /** Whether there is `git`, as for `workspaceTools`. */
  readonly git?: boolean
  /** Default 10. */
  readonly seconds?: number
  /** Programs of the world's own, as for `workspaceTools`. */
  readonly programs?: URL
  /** The signal that `prepare` gets. */
  readonly signal?: AbortSignal
}

/** What a command printed. */
export interface CommandResult {
  readonly stdout: string
  readonly stderr: string
  /** 137 for a command that was ended because it ran too long or needed too much memory. */
  readonly exitCode: number
}

/**
 * Runs a command line over a copy of a disk, in the `prepare` of a tool: hidden tests, or anything else that judges
 * what an agent has left. It sees every path, and changes nothing. Time and chance are always the same.
 */
export async function runCommand(
  disk: ReadOnlyDisk,
  command: string,
  options: CommandOptions = {},
): Promise<CommandResult> {
  const {
    cwd = '/',
    files = {},
    languages = [],
    git = false,
    seconds = 10,
    programs,
    signal = new AbortController().signal,
  } = options
  const memory = { cwd, variables: [] }
  const task = {
    kind: 'shell',
    script: command,
    stdin: null,
    memory,
    languages,
    git,
    programs: programs?.href ?? null,
  } as const
  try {
    const job = { access: FULL_ACCESS, now: EPOCH, seed: [0, 0] as const, files, task }
    const { stdout, stderr, exitCode } = await runJob(job, disk, seconds, signal)
    return { stdout, stderr, exitCode }
  } catch (error) {
    if (error instanceof JobEnded) return { stdout: '', stderr: `${error.message}\n`, exitCode: 137 }
    throw error
  }
}
