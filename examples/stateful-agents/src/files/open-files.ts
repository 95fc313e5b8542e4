import { constants, type FileHandle, open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { isInside } from '../is-inside.ts'

/** The most open files of a session. */
const OPEN_FILES = 16
/** The most names in a listing. */
const LISTED = 200

const FLAGS = {
  read: constants.O_RDONLY,
  write: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC,
  append: constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
}

export type Mode = keyof typeof FLAGS

/** The result of a read, from the end of the last one. */
export interface Read {
  readonly text: string
  /** Whether the end of the file was reached. */
  readonly atEnd: boolean
}

/**
 * The files of one session: a working directory, and handles that keep their position in a file.
 *
 * Paths are relative to the working directory, `/` is the root, and nothing outside is accessible, not even by a link.
 */
export interface OpenFiles extends AsyncDisposable {
  /** The working directory, as a path from the root. */
  readonly folder: string
  changeFolder(path: string): Promise<void>
  /** The names in the working directory, folders with a `/` behind them. */
  list(): Promise<readonly string[]>
  /** Opens a file, and resolves with its handle. */
  open(path: string, mode: Mode): Promise<number>
  /** Reads the next bytes of a file. A character at the boundary is left for the next read. */
  read(handle: number, bytes: number): Promise<Read>
  write(handle: number, text: string): Promise<void>
  close(handle: number): Promise<void>
}

interface OpenFile {
  readonly file: FileHandle
  readonly decoder: StringDecoder
}

/** Starts without open files, at the root: an existing folder, whose path has no symbolic link. */
export function createOpenFiles(root: string): OpenFiles {
  const files = new Map<number, OpenFile>()
  let folder = root
  let handles = 0
  // Files that are being opened count too, because calls are concurrent.
  let held = 0

  const shown = (path: string) => `/${relative(root, path)}`

  /** Resolves a path, links included. Rejects one that leads outside. */
  const locate = async (path: string) => {
    const asked = path.startsWith('/') ? join(root, path) : resolve(folder, path)
    // A new file has no real path yet, but its folder has.
    const real = await realpath(asked).catch(async () => join(await realpath(dirname(asked)), basename(asked)))
    if (!isInside(root, real)) throw new Error(`${path} lies outside of this server’s folder.`)
    return real
  }

  const take = (handle: number): OpenFile => {
    const open = files.get(handle)
    if (open) return open
    const known = [...files.keys()].join(', ') || 'none'
    throw new Error(`There is no handle ${handle} in this session. Open handles: ${known}. open_file gives one.`)
  }

  return {
    get folder() {
      return shown(folder)
    },
    async changeFolder(path) {
      const found = await locate(path).catch(explain(path, folder))
      if (!(await stat(found).catch(explain(path, folder))).isDirectory()) throw new Error(`${path} is no folder.`)
      folder = found
    },
    async list() {
      const entries = await readdir(folder, { withFileTypes: true })
      const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
      return names.length > LISTED ? [...names.slice(0, LISTED), `… and ${names.length - LISTED} more`] : names
    },
    async open(path, mode) {
      if (held >= OPEN_FILES)
        throw new Error(`${OPEN_FILES} files are open, which is the most that a session may hold. Close one first.`)
      held += 1
      try {
        // A link that was created meanwhile is not followed.
        const file = await open(await locate(path), FLAGS[mode] | constants.O_NOFOLLOW)
        handles += 1
        files.set(handles, { file, decoder: new StringDecoder('utf8') })
        return handles
      } catch (error) {
        held -= 1
        return explain(path, folder)(error as Error)
      }
    },
    async read(handle, bytes) {
      const { file, decoder } = take(handle)
      const { bytesRead, buffer } = await file.read(Buffer.alloc(bytes), 0, bytes, null)
      const text = decoder.write(buffer.subarray(0, bytesRead))
      return bytesRead < bytes ? { text: text + decoder.end(), atEnd: true } : { text, atEnd: false }
    },
    async write(handle, text) {
      await take(handle).file.writeFile(text)
    },
    async close(handle) {
      const { file } = take(handle)
      files.delete(handle)
      held -= 1
      await file.close()
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...files.values()].map(({ file }) => file.close()))
      files.clear()
      held = 0
    },
  }

  /** Returns an error for a path, without the path on the machine. */
  function explain(path: string, from: string) {
    return (cause: NodeJS.ErrnoException): never => {
      if (!cause.code) throw cause
      const reason = cause.code === 'ENOENT' ? `There is no ${path} in ${shown(from)}.` : `${path}: ${cause.code}.`
      throw new Error(reason, { cause })
    }
  }
}
