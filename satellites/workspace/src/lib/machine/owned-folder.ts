import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, utimesSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { MachineError } from './machine.ts'
import { processIdentity } from './process-identity.ts'

/** Milliseconds between two signs of life of an owner, and after which one without is gone. */
const BEAT = 60_000
const LEASE = 15 * BEAT

/**
 * A folder that belongs to this process, in one where each process of this user has its own. Its name says who owns it.
 * When a process opens one, those of processes that are gone are removed; also where they were killed.
 */
export class OwnedFolder {
  readonly path: string
  readonly name: string
  readonly #beat: NodeJS.Timeout
  readonly #removeAtExit = () => {
    spawn('rm', ['-rf', this.path], { detached: true, stdio: 'ignore' }).unref()
  }

  private constructor(path: string) {
    this.path = path
    this.name = basename(path)
    this.#beat = setInterval(() => utimesSync(path, new Date(), new Date()), BEAT).unref()
    process.once('exit', this.#removeAtExit)
  }

  /** @param onGone - is called with the name of each folder whose owner is gone, before it is removed. */
  static async open(parent: string, onGone: (name: string) => void): Promise<OwnedFolder> {
    mkdirSync(parent, { recursive: true, mode: 0o711 })
    const { uid } = lstatSync(parent)
    if (!lstatSync(parent).isDirectory() || uid !== process.getuid?.())
      throw new MachineError(
        'machine-refused',
        `${parent} belongs to somebody else. Name another folder for working copies, with the option folder.`,
      )
    if (uid === 0) assertOpen(parent)
    for (const name of readdirSync(parent)) {
      if (isOwned(parent, name)) continue
      onGone(name)
      endProcesses(join(parent, name))
      await removeFolder(join(parent, name))
    }
    const path = mkdtempSync(join(parent, `${namespace()}-${processIdentity(process.pid)}-`))
    // Who runs commands goes through it, to the one that is theirs.
    chmodSync(path, 0o711)
    return new OwnedFolder(path)
  }

  async remove(): Promise<void> {
    clearInterval(this.#beat)
    process.off('exit', this.#removeAtExit)
    await removeFolder(this.path)
  }
}

/** Throws unless others may go through a folder: commands of root are run by other users. */
function assertOpen(folder: string): void {
  for (let above = resolve(folder); above !== '/'; above = dirname(above))
    if ((lstatSync(above).mode & 0o001) === 0)
      throw new MachineError(
        'machine-refused',
        `Commands are run by another user than root, who cannot go through ${above}. Allow it (chmod o+x), or name another folder for working copies, with the option folder.`,
      )
}

/** Whether the owner of a folder may still live: one in another container cannot be seen, and gives signs of life. */
function isOwned(parent: string, name: string): boolean {
  const [space, pid, started] = name.split('-')
  if (space === namespace()) return processIdentity(Number(pid)) === `${pid}-${started}`
  return Date.now() - lstatSync(join(parent, name)).mtimeMs < LEASE
}

function namespace(): string {
  return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
}

/** Ends who prints into a folder: of a box whose owner was killed as it was made, one process waits for ever. */
function endProcesses(folder: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      // Code of a world may run this, and for that `process.kill` is forbidden.
      if (readlinkSync(`/proc/${pid}/fd/1`).startsWith(`${folder}/`)) execFileSync('sh', ['-c', `kill -9 ${pid}`])
    } catch {
      // It has ended, or is another user's.
    }
}

/** Removes a folder that a command may have made deep, or closed to its owner. */
export async function removeFolder(path: string): Promise<void> {
  const run = (program: string, ...args: string[]) =>
    new Promise<void>((resolve) => {
      const child = spawn(program, args, { stdio: 'ignore' })
      child.once('error', () => resolve()).once('exit', () => resolve())
    })
  if (process.getuid?.() !== 0) await run('chmod', '-R', 'u+rwX', path)
  await run('rm', '-rf', '--one-file-system', path)
  await rm(path, { recursive: true, force: true })
}
