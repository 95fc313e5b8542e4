import { createHash } from 'node:crypto'
import { constants, deflateSync, inflateSync } from 'node:zlib'
import { fatal } from '../git-error.ts'
import type { Folder } from './folder.ts'
import type { GitObject, ObjectType } from './object.ts'
import { PackFile } from './pack-file.ts'

/** The objects of a repository: loose ones, and those in packs. New ones are loose. */
export class Objects {
  readonly #folder: Folder
  readonly #known = new Map<string, GitObject>()
  #packs: readonly PackFile[] | null = null

  constructor(folder: Folder) {
    this.#folder = folder
  }

  /** Returns an object; `null` if there is none of this id. */
  find(id: string): GitObject | null {
    const known = this.#known.get(id)
    if (known) return known
    const found = this.#loose(id) ?? this.#packed(id)
    if (found) this.#known.set(id, found)
    return found
  }

  read(id: string): GitObject {
    const found = this.find(id)
    if (!found) throw fatal(`bad object ${id}`)
    return found
  }

  /** Reads the content of a blob. */
  blob(id: string): string {
    return this.read(id).data
  }

  has(id: string): boolean {
    return this.#known.has(id) || this.#folder.isFile(findPlace(id)) || this.#inPacks().some((pack) => pack.has(id))
  }

  /** Writes an object if there is none like it, and returns its id. */
  write(type: ObjectType, data: string): string {
    const id = idOf(type, data)
    if (!this.has(id)) {
      const whole = Buffer.from(`${type} ${data.length}\0${data}`, 'latin1')
      // Without a search for matches: what it finds differs between builds of zlib, and so would the disk.
      const packed = deflateSync(whole, { strategy: constants.Z_HUFFMAN_ONLY })
      this.#folder.write(findPlace(id), packed.toString('latin1'), 0o444)
    }
    this.#known.set(id, { type, data })
    return id
  }

  /** Returns the ids that begin with some digits, sorted. */
  idsWith(prefix: string): string[] {
    const folder = prefix.slice(0, 2)
    const loose = this.#folder
      .list(`objects/${folder}`)
      .map((name) => folder + name)
      .filter((id) => id.startsWith(prefix) && id.length === 40)
    return [...new Set([...loose, ...this.#inPacks().flatMap((pack) => pack.idsWith(prefix))])].sort()
  }

  /** Returns the shortest beginning of an id that no other object has, of at least `least` digits. */
  shorten(id: string, least = 7): string {
    let length = least
    while (length < 40 && this.idsWith(id.slice(0, length)).some((other) => other !== id)) length += 1
    return id.slice(0, length)
  }

  #loose(id: string): GitObject | null {
    const content = this.#folder.read(findPlace(id))
    if (content === null) return null
    let text: string
    try {
      text = inflateSync(Buffer.from(content, 'latin1')).toString('latin1')
    } catch {
      throw fatal(`loose object ${id} (stored in .git/${findPlace(id)}) is corrupt`)
    }
    const nul = text.indexOf('\0')
    return { type: text.slice(0, text.indexOf(' ')) as ObjectType, data: text.slice(nul + 1) }
  }

  #packed(id: string): GitObject | null {
    for (const pack of this.#inPacks()) {
      const found = pack.read(id, (base) => this.read(base))
      if (found) return found
    }
    return null
  }

  #inPacks(): readonly PackFile[] {
    this.#packs ??= this.#folder
      .list('objects/pack')
      .filter((name) => name.endsWith('.idx'))
      .map((name) => new PackFile(this.#folder, `objects/pack/${name.slice(0, -4)}`))
    return this.#packs
  }
}

function findPlace(id: string): string {
  return `objects/${id.slice(0, 2)}/${id.slice(2)}`
}

/** Returns the id that an object has. */
export function idOf(type: ObjectType, data: string): string {
  return createHash('sha1').update(`${type} ${data.length}\0`, 'latin1').update(data, 'latin1').digest('hex')
}
