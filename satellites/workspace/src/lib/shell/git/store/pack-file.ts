import { inflateSync } from 'node:zlib'
import { fatal } from '../git-error.ts'
import type { Folder } from './folder.ts'
import type { GitObject, ObjectType } from './object.ts'

/** Types of objects by their number in a pack. */
const TYPES: Readonly<Record<number, ObjectType>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' }
const BASE_BEFORE = 6
const BASE_BY_ID = 7

/** The header of an index of version 2, and its table of how many ids begin with each byte or a smaller one. */
const HEADER = 8
const IDS = HEADER + 256 * 4

/** A pack of objects with its index, as other programs of git have written it. */
export class PackFile {
  readonly #pack: Buffer
  readonly #index: Buffer
  readonly #count: number

  /** `path` is without its ending. */
  constructor(folder: Folder, path: string) {
    this.#index = Buffer.from(folder.read(`${path}.idx`) ?? '', 'latin1')
    this.#pack = Buffer.from(folder.read(`${path}.pack`) ?? '', 'latin1')
    if (this.#index.length < IDS || this.#index.readUInt32BE(4) !== 2)
      throw fatal(`index file ${path}.idx is too small`)
    this.#count = this.#index.readUInt32BE(IDS - 4)
  }

  has(id: string): boolean {
    return this.#find(id) >= 0
  }

  /** Reads an object; `null` if it is not in the pack. `readBase` reads one that may be in another pack. */
  read(id: string, readBase: (id: string) => GitObject): GitObject | null {
    const at = this.#find(id)
    return at < 0 ? null : this.#readAt(this.#offset(at), readBase)
  }

  /** Returns the ids that begin with some digits. */
  idsWith(prefix: string): string[] {
    const ids: string[] = []
    for (let at = this.#first(prefix); at < this.#count && this.#id(at).startsWith(prefix); at++) ids.push(this.#id(at))
    return ids
  }

  #find(id: string): number {
    const at = this.#first(id)
    return at < this.#count && this.#id(at) === id ? at : -1
  }

  /** Returns the place of the first id that is not before some digits. */
  #first(digits: string): number {
    let [low, high] = [0, this.#count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#id(middle) < digits) low = middle + 1
      else high = middle
    }
    return low
  }

  #id(at: number): string {
    return this.#index.toString('hex', IDS + at * 20, IDS + at * 20 + 20)
  }

  #offset(at: number): number {
    const small = IDS + this.#count * 24
    const offset = this.#index.readUInt32BE(small + at * 4)
    if (offset < 2 ** 31) return offset
    return Number(this.#index.readBigUInt64BE(small + this.#count * 4 + (offset - 2 ** 31) * 8))
  }

  #readAt(offset: number, readBase: (id: string) => GitObject): GitObject {
    let at = offset
    let byte = this.#pack[at++] as number
    const kind = (byte >> 4) & 7
    // The length of what follows is not needed.
    while (byte & 0x80) byte = this.#pack[at++] as number
    const type = TYPES[kind]
    if (type) return { type, data: inflateSync(this.#pack.subarray(at)).toString('latin1') }
    let base: GitObject
    if (kind === BASE_BEFORE) {
      byte = this.#pack[at++] as number
      let back = byte & 0x7f
      while (byte & 0x80) {
        byte = this.#pack[at++] as number
        back = (back + 1) * 128 + (byte & 0x7f)
      }
      base = this.#readAt(offset - back, readBase)
    } else if (kind === BASE_BY_ID) {
      base = readBase(this.#pack.toString('hex', at, at + 20))
      at += 20
    } else throw fatal(`unknown object type ${kind} in a pack`)
    const delta = inflateSync(this.#pack.subarray(at))
    return { type: base.type, data: applyDelta(Buffer.from(base.data, 'latin1'), delta).toString('latin1') }
  }
}

/** Returns what a delta makes of a base: copies of parts of it, and bytes of the delta. */
function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let at = 0
  const size = () => {
    let [value, shift, byte] = [0, 1, 0x80]
    while (byte & 0x80) {
      byte = delta[at++] as number
      value += (byte & 0x7f) * shift
      shift *= 128
    }
    return value
  }
  size()
  const result = Buffer.alloc(size())
  let end = 0
  while (at < delta.length) {
    const code = delta[at++] as number
    if (code & 0x80) {
      const number = (bits: number, count: number) => {
        let value = 0
        for (let i = 0; i < count; i++) if (bits & (1 << i)) value += (delta[at++] as number) * 256 ** i
        return value
      }
      const from = number(code & 0x0f, 4)
      const length = number((code >> 4) & 7, 3) || 0x10000
      end += base.copy(result, end, from, from + length)
    } else {
      end += delta.copy(result, end, at, at + code)
      at += code
    }
  }
  return result
}
