import type { Json } from '@episodic/protocol'

const ARRAY_TYPES = { Uint8Array, Uint16Array, Uint32Array, Float64Array } as const
export type PackedArray = Uint8Array | Uint16Array | Uint32Array | Float64Array

export interface ArrayPack {
  readonly header: Json
  readonly arrays: { readonly [name: string]: PackedArray }
}

/** Arrays start at multiples of this many bytes, so that they can be read in place. */
const ALIGNMENT = 8
const START = new TextEncoder().encode('EPARRAY1')

/**
 * Packs typed arrays into bytes: a mark of eight bytes, the length of the description as a 32-bit number, the
 * description as JSON, and each array at a multiple of eight bytes, as is the length of all. All numbers are
 * little-endian, as on every platform of Node and browsers.
 */
export function packArrays({ header, arrays }: ArrayPack): Uint8Array<ArrayBuffer> {
  const named = Object.entries(arrays)
  const described = named.map(([name, array]) => [name, array.constructor.name, array.length])
  const text = new TextEncoder().encode(JSON.stringify({ header, arrays: described }))
  const first = align(START.length + 4 + text.length)
  const bytes = new Uint8Array(named.reduce((end, [, array]) => align(end + array.byteLength), first))
  bytes.set(START)
  new DataView(bytes.buffer).setUint32(START.length, text.length, true)
  bytes.set(text, START.length + 4)
  let at = first
  for (const [, array] of named) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at)
    at = align(at + array.byteLength)
  }
  return bytes
}

/** Returns the arrays in bytes of {@link packArrays}, as views if aligned. Throws a `RangeError` for others. */
export function unpackArrays(packed: Uint8Array): ArrayPack {
  const bytes = packed.byteOffset % ALIGNMENT === 0 ? packed : new Uint8Array(packed)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const from = START.length + 4
  if (bytes.length < from || START.some((byte, i) => bytes[i] !== byte))
    throw new RangeError('These bytes are no packed arrays.')
  const length = view.getUint32(START.length, true)
  if (from + length > bytes.length) throw new RangeError('The packed arrays are incomplete.')
  const { header, arrays } = JSON.parse(new TextDecoder().decode(bytes.subarray(from, from + length))) as {
    header: Json
    arrays: [string, keyof typeof ARRAY_TYPES, number][]
  }
  let at = align(from + length)
  const unpacked = arrays.map(([name, type, count]) => {
    const Type = ARRAY_TYPES[type]
    if (!Type || at + count * Type.BYTES_PER_ELEMENT > bytes.length)
      throw new RangeError('The packed arrays are incomplete.')
    const array = new Type(bytes.buffer as ArrayBuffer, bytes.byteOffset + at, count)
    at = align(at + array.byteLength)
    return [name, array] as const
  })
  return { header, arrays: Object.fromEntries(unpacked) }
}

function align(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT
}
