import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BoxResult } from './box.ts'
import type { MachineCommand, MachineResult } from './machine.ts'
import { OwnedFolder, removeFolder } from './owned-folder.ts'
import { createSessionPool } from './session-pool.ts'
import { WorkingCopy } from './working-copy.ts'

export interface CopiesOptions {
  /** Commands that run at once; others wait for their turn. Default: as many as there are cores, at least 2. */
  readonly boxes?: number
  /** Sessions whose files are kept for their next command, each in a folder. Default 64, and not less than `boxes`. */
  readonly copies?: number
  /** The folder for them. Default: one of this user in the folder for temporary files. */
  readonly folder?: string
}

/** The first of the users that commands run as if this process is root: nobody is one of them. */
const FIRST_USER = 61_184

export interface SessionCopy {
  readonly copy: WorkingCopy
  /** The user who owns them; `null` for the one of this process. */
  readonly user: number | null
  readonly place: number
  readonly folder: string
}

/** Opens a folder for working copies, and a pool of them. `onGone` is called with the name of each that nobody owns. */
export async function openCopies({ boxes, copies = 64, folder }: CopiesOptions, onGone: (name: string) => void) {
  const owned = await OwnedFolder.open(folder ?? join(tmpdir(), `episodic-boxes-${process.getuid?.()}`), onGone)
  const free: number[] = []
  let made = 0
  let places = 0
  const create = (): SessionCopy => {
    const place = free.pop() ?? places++
    const user = process.getuid?.() === 0 ? FIRST_USER + place : null
    made += 1
    const own = join(owned.path, String(made))
    return { place, folder: own, user, copy: new WorkingCopy(own, user) }
  }
  const remove = async ({ folder, place }: SessionCopy) => {
    await removeFolder(folder)
    free.push(place)
  }
  const pool = createSessionPool(boxes ?? Math.max(2, availableParallelism()), copies, create, remove)
  return { folder: owned, pool }
}

/** Runs a command in a box that has a working copy, brought up to date, and returns what it has changed there. */
export async function runOnCopy(
  { copy }: SessionCopy,
  command: MachineCommand,
  discard: () => void,
  run: () => Promise<BoxResult>,
): Promise<MachineResult> {
  await copy.bringTo(command)
  const result = await run()
  const read = await copy.readChanges(command, command.bounds.disk)
  if (!read) discard()
  const ended = result.ended ?? (read ? null : 'disk')
  return ended || !read
    ? { ...result, exitCode: 137, ended, changes: [], grown: 0, notKept: [] }
    : { ...result, ended, ...read }
}
