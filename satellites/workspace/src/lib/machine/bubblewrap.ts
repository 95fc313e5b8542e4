import { existsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { type BoxOptions, INSTALL, runInBox } from './box.ts'
import { commandArguments, systemArguments } from './box-view.ts'
import { type Machine, type MachineCommand, MachineError, type MachineResult } from './machine.ts'
import { MemoryGroup } from './memory-group.ts'
import { OwnedFolder } from './owned-folder.ts'
import { Pipes } from './pipes.ts'
import { type LentCopy, WorkingCopies } from './working-copies.ts'
import type { CopyChanges } from './working-copy.ts'

/** How a machine of this computer runs commands. */
export interface BubblewrapOptions {
  /** Commands that run at once; others wait for their turn. Default: as many as there are cores, at least 2. */
  readonly boxes?: number
  /** Sessions whose files are kept for their next command, each in a folder. Default 64, and not less than `boxes`. */
  readonly copies?: number
  /** The folder for them. Default: one of this user in the folder for temporary files. */
  readonly folder?: string
  /** Absolute paths of this computer that commands see beside `/usr`, read-only, such as `/opt/go`. Default: none. */
  readonly system?: readonly string[]
}

/**
 * Returns a machine that runs each command in a box on this computer, with `bwrap`. A command sees the system of this
 * computer read-only, and no other process, user, home or variable of it.
 */
export function bubblewrap(options: BubblewrapOptions = {}): Machine {
  return new Bubblewrap(options)
}

interface Opened {
  readonly folder: OwnedFolder
  readonly copies: WorkingCopies
  readonly program: string
  /** What is the same in every box. */
  readonly args: readonly string[]
}

type BoxParts = Pick<BoxOptions, 'group' | 'pipes'>

class Bubblewrap implements Machine {
  readonly name = 'bubblewrap'
  readonly #options: BubblewrapOptions
  readonly #ending = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  /** What boxes have had that have ended. */
  readonly #parts: BoxParts[] = []
  #made = 0
  #opened: Promise<Opened> | null = null

  constructor(options: BubblewrapOptions) {
    this.#options = options
  }

  async run(command: MachineCommand, signal: AbortSignal): Promise<MachineResult> {
    const either = AbortSignal.any([signal, this.#ending.signal])
    either.throwIfAborted()
    this.#opened ??= this.#open()
    const running = this.#opened.then((opened) =>
      opened.copies.use(command.session, (lent) => this.#runOn(lent, opened, command, either)),
    )
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  async close(): Promise<void> {
    this.#ending.abort(new MachineError('machine-closed', 'The machine was closed: it runs no command any more.'))
    await Promise.allSettled(this.#running)
    const opened = await this.#opened?.catch(() => null)
    if (!opened) return
    await opened.folder.remove()
    MemoryGroup.remove(opened.folder.name)
  }

  async #open(): Promise<Opened> {
    const { boxes = Math.max(2, availableParallelism()), copies = 64, folder, system = [] } = this.#options
    const program = findProgram('bwrap')
    const parent = folder ?? join(tmpdir(), `episodic-boxes-${process.getuid?.()}`)
    const owned = await OwnedFolder.open(parent, (name) => MemoryGroup.remove(name))
    return {
      folder: owned,
      copies: new WorkingCopies(owned.path, boxes, Math.max(boxes, copies)),
      program,
      args: systemArguments(owned.path, system),
    }
  }

  async #makeParts({ name, path }: OwnedFolder): Promise<BoxParts> {
    const number = ++this.#made
    return { group: MemoryGroup.create(`${name}-${number}`), pipes: await Pipes.create(join(path, `pipe-${number}`)) }
  }

  async #runOn(
    { copy, user, discard }: LentCopy,
    { folder, program, args }: Opened,
    command: MachineCommand,
    signal: AbortSignal,
  ): Promise<MachineResult> {
    signal.throwIfAborted()
    await copy.bringTo(command)
    const parts = this.#parts.pop() ?? (await this.#makeParts(folder))
    const all = [...args, ...commandArguments(command, copy)]
    const box = { ...parts, program, args: all, user, folder: copy.at('/') }
    const result = await runInBox(command, box, signal).finally(() => this.#parts.push(parts))
    const read = await copy.readChanges(command, command.bounds.disk)
    if (!read) discard()
    const ended = result.ended ?? (read ? null : 'disk')
    return ended
      ? { ...result, exitCode: 137, ended, changes: [], grown: 0, notKept: [] }
      : { ...result, ...(read as CopyChanges) }
  }
}

function findProgram(name: string): string {
  const files = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))
  const found = files.find((file) => existsSync(file))
  if (found) return found
  throw new MachineError('machine-missing', `${name} is not installed. ${INSTALL}`)
}
