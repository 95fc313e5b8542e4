import { CodedError } from '@episodic/protocol/internal'
import type { ReadOnlyDisk } from '../disk/disk.ts'
import type { DiskChanges } from '../disk/disk-changes.ts'

/**
 * A computer on which commands run for real, in a box of their own: the driver of one kind of sandbox or container.
 *
 * A command sees the files of a session at their paths, and the system of the machine. What it changes of these files
 * is the result, and nothing else of it lasts: a box has no other memory. Two commands at once see nothing of each
 * other. `describeMachine` has a test for each sentence here and below.
 */
export interface Machine {
  /** The name of its kind in messages, such as `bubblewrap`. */
  readonly name: string
  /**
   * Runs a command, and resolves when it and all that it has started have ended. Waits for its turn if too many run.
   * Rejects with the reason of the signal, after the command was ended; and with a {@link MachineError}.
   */
  run(command: MachineCommand, signal: AbortSignal): Promise<MachineResult>
  /** Ends what runs, removes what the machine keeps of sessions, and runs nothing any more. */
  close(): Promise<void>
}

export interface MachineCommand {
  /**
   * Names the session that it is run for. A machine may keep files of its last command, so that the next one costs what
   * has changed since. No result depends on it, and no other name gets to these files.
   */
  readonly session: string
  /** The program and its arguments, such as `['bash', '-c', script]`. */
  readonly argv: readonly string[]
  /** The directory that it is run in: `/`, or one that is in a folder. */
  readonly cwd: string
  /** Set beside `PATH`, `HOME`, `LANG` and `TZ`, which the machine sets. Nothing of this process is passed on. */
  readonly variables: Readonly<Record<string, string>>
  readonly disk: ReadOnlyDisk
  /**
   * Absolute paths of the directories of the disk that the command sees, with what is in them: none within another, nor
   * in a directory of the system. Each is there, also where the disk has none. The disk's other files are not seen.
   */
  readonly folders: readonly string[]
  /** Paths in these folders that the command does not see, with what is in them. They stay as they are. */
  readonly hidden: readonly string[]
  /** Paths in these folders that it cannot change, with what is in them. */
  readonly readOnly: readonly string[]
  readonly stdin: Uint8Array
  /** Whether it reaches the network of the machine; otherwise it reaches only what it has started itself. */
  readonly network: boolean
  readonly bounds: MachineBounds
}

/** What one command may use, all of its processes together unless something else is said. */
export interface MachineBounds {
  /** Seconds until it is ended. */
  readonly seconds: number
  /** Seconds of CPU of each process. */
  readonly cpuSeconds: number
  readonly memory: number
  /** Processes and threads. More than these do not start, and the command goes on. */
  readonly processes: number
  /** Bytes that it may print. */
  readonly output: number
  /** Bytes by which it may make the files together larger. */
  readonly disk: number
}

/** The bounds of a command that says no other: 10 s, 1 GiB of memory, 256 processes, and 8 MiB of output. */
export const MACHINE_BOUNDS: MachineBounds = {
  seconds: 10,
  cpuSeconds: 60,
  memory: 1_073_741_824,
  processes: 256,
  output: 8_388_608,
  disk: 33_554_432,
}

export interface MachineResult {
  /** The bytes that were printed before it ended. */
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
  /** 128 and the number of the signal for a program that a signal ended. 137 for a command that was ended. */
  readonly exitCode: number
  /**
   * What it changed of the files in its folders, with modes, times, links and removals: applied to the disk that was
   * given, they make what the next command has to see. None if it was ended. A hard link is a copy.
   */
  readonly changes: DiskChanges
  /** Bytes by which all files together are larger than before. */
  readonly grown: number
  /** Milliseconds from its start to its end. */
  readonly elapsed: number
  /** The bound that it was ended for; `null` if it ended by itself. */
  readonly ended: 'time' | 'memory' | 'output' | 'disk' | null
  /** Says of each path that a disk cannot keep why it is gone: devices, sockets and pipes, names that are no UTF-8. */
  readonly notKept: readonly string[]
}

/**
 * - `machine-missing`: a program that the machine needs is not installed; the message says how to install it.
 * - `machine-refused`: the system does not allow what the machine needs, or the machine answered with an error.
 * - `machine-closed`: the machine was closed.
 */
export type MachineErrorCode = 'machine-missing' | 'machine-refused' | 'machine-closed'

export class MachineError extends CodedError<MachineErrorCode> {
  static override readonly brand: string = 'MachineError'
}
