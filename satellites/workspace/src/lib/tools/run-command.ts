import { type Disk, EPOCH, type ReadOnlyDisk } from '../disk/disk.ts'
import { applyChanges, type DiskChanges } from '../disk/disk-changes.ts'
import { FULL_ACCESS } from '../disk/edited-disk.ts'
import { MACHINE_BOUNDS, type Machine } from '../machine/machine.ts'
import type { Language } from '../shell/shell-parts.ts'
import { JobEnded, runJob } from '../workers/command-pool.ts'
import type { JobResult } from '../workers/job-result.ts'
import { type MachineUse, runOnMachine } from './run-on-machine.ts'

export interface CommandOptions extends MachineUse {
  /** The directory that it is run in. Default `/`. */
  readonly cwd?: string
  /** Files that are on the disk for this command alone, such as hidden tests: a disk of `createDisk`. */
  readonly files?: Disk
  /** What it reads from standard input. Default: nothing. */
  readonly stdin?: string
  readonly languages?: readonly Language[]
  readonly git?: boolean
  /** Default 10. */
  readonly seconds?: number
  readonly programs?: URL
  /** The signal that `prepare` gets. */
  readonly signal?: AbortSignal
}

export interface CommandResult {
  readonly stdout: string
  readonly stderr: string
  /** 137 for a command that was ended because it ran too long or needed too much memory. */
  readonly exitCode: number
}

/**
 * Runs a command line over a copy of a disk, in the `prepare` of a tool. It sees every path, and changes nothing. Time
 * and chance are always the same.
 *
 * It decides nothing by itself about code of an agent: a program that loads such code can be ended by it with exit code
 * 0, and what it reads can be read by it. Judge code by `judge` or `judgeCalls`.
 */
export async function runCommand(
  disk: ReadOnlyDisk,
  command: string,
  options: CommandOptions = {},
): Promise<CommandResult> {
  const { disk: _, ...result } = await runOver(disk, command, options)
  return result
}

/** Runs a command line as {@link runCommand} does, and resolves with the disk as the command left it, too. */
export async function runOver(
  disk: ReadOnlyDisk,
  command: string,
  options: CommandOptions,
): Promise<CommandResult & { readonly disk: ReadOnlyDisk }> {
  const { machine, files = {} } = options
  if (machine) {
    const { stdout, stderr, exitCode, changes } = await runInBox(machine, disk, command, options)
    return { stdout, stderr, exitCode, disk: changedDisk({ ...disk, ...files }, changes) }
  }
  const {
    cwd = '/',
    stdin = null,
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
    stdin,
    memory,
    languages,
    git,
    programs: programs?.href ?? null,
  } as const
  try {
    const job = { access: FULL_ACCESS, now: EPOCH, seed: [0, 0] as const, files, task }
    const { stdout, stderr, exitCode, changes } = await runJob(job, disk, seconds, signal)
    return { stdout, stderr, exitCode, disk: changedDisk(disk, changes) }
  } catch (error) {
    if (error instanceof JobEnded) return { stdout: '', stderr: `${error.message}\n`, exitCode: 137, disk }
    throw error
  }
}

/** Sessions by whose names a machine keeps files for the next command, which writes only what differs. */
const KEPT = 8
let commands = 0

/** Shows a machine the files over the disk, where nothing that it runs can change them. */
function runInBox(
  machine: Machine,
  disk: ReadOnlyDisk,
  script: string,
  { cwd = '/', files = {}, seconds = MACHINE_BOUNDS.seconds, signal, ...use }: CommandOptions,
): Promise<JobResult> {
  const readOnly = Object.keys(files).filter((path) => files[path]?.kind !== 'directory')
  const line = {
    ...use,
    machine,
    session: `judge-${commands++ % KEPT}`,
    script,
    memory: { cwd, variables: [] },
    now: EPOCH,
    disk: { ...disk, ...files },
    access: { ...FULL_ACCESS, readOnly, room: MACHINE_BOUNDS.disk },
    seconds,
  }
  return runOnMachine(line, signal ?? new AbortController().signal)
}

function changedDisk(disk: ReadOnlyDisk, changes: DiskChanges): ReadOnlyDisk {
  const changed: Disk = { ...disk }
  for (const { path } of changes) if (changed[path]) changed[path] = structuredClone({ ...changed[path] })
  applyChanges(changed, changes)
  return changed
}
