import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { shownPath } from '../../base/console.ts'
import { HarnessError, invalidOption } from '../../base/harness-error.ts'
import { cannotWrite, draftOf, makeFolder, replaceFile, writeWhole } from '../../base/own-files.ts'

const zip = promisify(gzip)
const DATA = 'data'
/** Digits of the hash in the name of the folder of data. */
const HASH_DIGITS = 10

/** Rejects with `option-invalid` if a folder cannot be created at a path, or would replace something. */
export async function assertFree(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null)
  if (!found) return
  if (!found.isDirectory())
    throw invalidOption(
      `--out ${shownPath(folder)} is a file already. Give another folder, or a name that ends in .html for one file.`,
    )
  if ((await readdir(folder)).length > 0)
    throw invalidOption(
      `--out ${shownPath(folder)} is a folder that is not empty, and nothing in it is replaced. Give another one, or remove it first.`,
    )
}

/**
 * A folder of static files that is being written, under another name until it is published: nobody sees half of it. Its
 * files of data are in a folder that is named after their hash, so that a browser never shows new pages with old data.
 */
export class StaticFolder implements AsyncDisposable {
  readonly #folder: string
  readonly #part: string
  readonly #hash = createHash('sha256')
  #bytes = 0

  private constructor(folder: string) {
    this.#folder = folder
    this.#part = draftOf(folder)
  }

  /** Begins a folder at an absolute path. Rejects with `option-invalid` if it is not free, and with `disk-failed`. */
  static async create(folder: string): Promise<StaticFolder> {
    await assertFree(folder)
    const created = new StaticFolder(folder)
    await created.#try(async () => {
      makeFolder(dirname(folder))
      // Not recursive: fails if anything has that name.
      await mkdir(created.#part)
      await mkdir(join(created.#part, DATA))
    })
    return created
  }

  /** Bytes of the files so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** Writes a file of data, gzipped. Rejects with `disk-failed`. */
  async write(name: string, content: string | Uint8Array): Promise<void> {
    const zipped = await zip(content)
    const file = join(this.#part, DATA, name)
    this.#hash.update(`${name} ${zipped.length} `).update(zipped)
    this.#bytes += zipped.length
    await writeWhole(file, zipped)
  }

  /** Writes `index.html`. No file of data can be written any more. Rejects with `disk-failed`. */
  async finish(page: (data: string) => string): Promise<void> {
    const data = `${DATA}-${this.#hash.digest('hex').slice(0, HASH_DIGITS)}`
    const html = page(data)
    this.#bytes += Buffer.byteLength(html)
    await this.#try(async () => {
      await rename(join(this.#part, DATA), join(this.#part, data))
      await replaceFile(join(this.#part, 'index.html'), html)
    })
  }

  /** Gives the folder its name. Resolves with its path; rejects with `option-invalid` if it is not free any more. */
  async publish(): Promise<string> {
    await assertFree(this.#folder)
    await this.#try(async () => {
      if (existsSync(this.#folder)) await rmdir(this.#folder)
      await rename(this.#part, this.#folder)
    })
    return this.#folder
  }

  /** Removes what was not published. */
  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#part, { recursive: true, force: true }).catch(() => {})
  }

  async #try(write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (cause) {
      if (HarnessError.is(cause)) throw cause
      throw cannotWrite(this.#folder, cause as Error)
    }
  }
}
