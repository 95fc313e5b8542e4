import { chmod, link, lstat, mkdir, mkdtemp, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { connect, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ServerError } from '../server-error.ts'

/** The most bytes of a path that every system takes for a socket. */
const LONGEST_PATH = 103

/**
 * Listens on a Unix socket that its owner alone may connect to, and gives a way to take the file away again.
 *
 * The socket is made in a folder that nobody else can enter, closed to others there, and only then given its name, so
 * there is no moment at which somebody else could come in. What a dead server left at the name is replaced. Throws
 * `address-in-use` where a server lives there or the name is something else's.
 */
export async function listenOnFile(server: Server, path: string): Promise<() => Promise<void>> {
  const folder = await mkdtemp(`${dirname(path)}/.`).catch((cause) => {
    throw new ServerError('option-invalid', `There can be no socket at ${path}: ${(cause as Error).message}`, { cause })
  })
  const made = join(folder, 's')
  if (Math.max(Buffer.byteLength(made), Buffer.byteLength(path)) > LONGEST_PATH) {
    await rm(folder, { recursive: true })
    throw new ServerError('option-invalid', `${path} is too long for the name of a socket. Choose a shorter one.`)
  }
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(made, resolve)
    })
    await chmod(made, 0o600)
    await oneAtATime(path, async () => {
      while (!(await taken(made, path))) await makeRoom(folder, path)
    })
    const { ino, dev } = await lstat(path)
    return async () => {
      // Somebody else may have taken the name since.
      const now = await lstat(path).catch(() => null)
      if (now?.ino === ino && now.dev === dev) await unlink(path)
    }
  } catch (error) {
    server.close()
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Runs what takes a name by itself: of several that start at once one could otherwise move the other's socket aside. Each
 * is done within milliseconds, so what marks a turn and is still there after a second was left by one that died.
 */
async function oneAtATime(path: string, take: () => Promise<void>): Promise<void> {
  const turn = `${path}.turn`
  for (let tries = 1; !(await isMade(turn)); tries++) {
    await pause(10)
    if (tries === 100) await rmdir(turn).catch(() => {})
  }
  try {
    await take()
  } finally {
    await rmdir(turn).catch(() => {})
  }
}

/** Makes a folder, and says whether it was not there. */
async function isMade(folder: string): Promise<boolean> {
  try {
    await mkdir(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Gives the socket its name, unless there is something of that name. */
async function taken(made: string, path: string): Promise<boolean> {
  try {
    await link(made, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/**
 * Takes a dead server's socket away. It is moved aside first and looked at again there: two servers that start at once
 * could otherwise take each other's.
 */
async function makeRoom(folder: string, path: string): Promise<void> {
  if (await isServed(path)) throw inUse(path)
  const aside = join(folder, 'o')
  try {
    await rename(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  if (await isServed(aside)) {
    await link(aside, path).catch(() => {})
    throw inUse(path)
  }
  await unlink(aside)
}

/** Whether something lives at a path: a server that can be reached, or a file that is no socket. */
async function isServed(path: string): Promise<boolean> {
  const file = await lstat(path).catch(() => null)
  if (file === null) return false
  if (!file.isSocket()) return true
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(true)
    })
    // A server that is only busy (EAGAIN) lives too.
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'))
  })
}

function inUse(path: string): ServerError {
  return new ServerError(
    'address-in-use',
    `${path} is in use. Stop the server that listens there, move the file away, or choose another path.`,
  )
}
