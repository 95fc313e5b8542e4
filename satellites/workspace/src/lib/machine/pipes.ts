import { execFile } from 'node:child_process'
import { chownSync, closeSync, constants, openSync, unlinkSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { promisify } from 'node:util'

/** The standard streams of one command: those that it prints to as streams, and its own ends by number. */
export interface OpenPipes {
  readonly stdout: Socket
  readonly stderr: Socket
  readonly ofCommand: readonly number[]
  /** Closes the ends of the command in this process, once it has its own. */
  release(): void
}

/**
 * Files and named pipes for the standard streams of one command after another. What Node makes for a child process are
 * sockets, which no program can open as `/dev/stdin` or `/dev/stderr`.
 */
export class Pipes {
  readonly #input: string
  readonly #outputs: readonly string[]

  private constructor(prefix: string) {
    this.#input = `${prefix}-in`
    this.#outputs = [`${prefix}-out`, `${prefix}-err`]
  }

  static async create(prefix: string): Promise<Pipes> {
    const pipes = new Pipes(prefix)
    await promisify(execFile)('mkfifo', ['-m', '600', ...pipes.#outputs])
    return pipes
  }

  /** Opens them for a command of a user; `null` for the one of this process. */
  open(stdin: Uint8Array, user: number | null): OpenPipes {
    const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants
    writeFileSync(this.#input, stdin, { mode: 0o600 })
    if (user !== null) for (const file of [this.#input, ...this.#outputs]) chownSync(file, user, user)
    // Opening the end for writing would wait for a reader.
    const ends = this.#outputs.map((output) => openSync(output, O_RDONLY | O_NONBLOCK))
    const ofCommand = [openSync(this.#input, O_RDONLY), ...this.#outputs.map((output) => openSync(output, O_WRONLY))]
    unlinkSync(this.#input)
    const [stdout, stderr] = ends.map((fd) => new Socket({ fd, readable: true, writable: false })) as [Socket, Socket]
    const release = () => {
      for (const number of ofCommand) closeSync(number)
    }
    return { stdout, stderr, ofCommand, release }
  }
}
