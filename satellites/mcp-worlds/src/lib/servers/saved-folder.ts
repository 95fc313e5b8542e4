import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The content of a folder: files in base64 by their paths, and folders, with a slash at the end and no content. */
export type SavedFolder = Readonly<Record<string, string>>

/** What has changed in a folder: the new content by path, and `null` for what is gone. */
export type Changes = Record<string, string | null>

/**
 * Nanoseconds after which a change of a file shows in its times, on any file system. A file that was changed less long
 * ago may have been changed again since it was read, with the same times.
 */
const SETTLED = 2_000_000_000n

/** The folder of a server. Only files whose size or times have changed are read again. */
export class WatchedFolder {
  readonly #path: string
  readonly #clock: string
  readonly #settled: bigint
  readonly #read: (path: string) => Promise<string>
  /** What the system said of the files that are saved as they are, by path. */
  #known = new Map<string, string>()

  /**
   * @param clock - the path of a file beside the folder, by which the time of its file system is found.
   * @param settled - see {@link SETTLED}.
   * @param read - reads a file as base64.
   */
  constructor(
    path: string,
    clock: string,
    settled = SETTLED,
    read = (file: string): Promise<string> => readFile(file, 'base64'),
  ) {
    this.#path = path
    this.#clock = clock
    this.#settled = settled
    this.#read = read
  }

  /** Resolves with what has changed since the folder was saved. Links are not followed, and not saved. */
  async changesSince(saved: SavedFolder): Promise<Changes> {
    await writeFile(this.#clock, '')
    const { mtimeNs: now } = await lstat(this.#clock, { bigint: true })
    const known = new Map<string, string>()
    const found = new Set<string>()
    const changes: Changes = {}
    const visit = async (within: string): Promise<void> => {
      for (const entry of await readdir(join(this.#path, within), { withFileTypes: true })) {
        const path = `${within}${entry.name}${entry.isDirectory() ? '/' : ''}`
        if (entry.isDirectory()) {
          found.add(path)
          if (saved[path] === undefined) changes[path] = ''
          await visit(path)
        } else if (entry.isFile()) {
          const { ino, size, mtimeNs, ctimeNs } = await lstat(join(this.#path, path), { bigint: true })
          const said = [ino, size, mtimeNs, ctimeNs].join()
          found.add(path)
          if (now - ctimeNs >= this.#settled) known.set(path, said)
          if (saved[path] !== undefined && this.#known.get(path) === said) continue
          const content = await this.#read(join(this.#path, path))
          if (saved[path] !== content) changes[path] = content
        }
      }
    }
    await visit('')
    this.#known = known
    for (const path of Object.keys(saved)) if (!found.has(path)) changes[path] = null
    return changes
  }
}

/** Writes the files of a folder into another one, which is created. */
export async function writeFolder(folder: string, saved: SavedFolder): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const [path, content] of Object.entries(saved)) {
    const target = join(folder, path)
    await mkdir(path.endsWith('/') ? target : dirname(target), { recursive: true })
    if (!path.endsWith('/')) await writeFile(target, content, 'base64')
  }
}
