import { createRequire, syncBuiltinESMExports } from 'node:module'
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'
import { installOnePlace } from './one-place.ts'

/**
 * Time and chance of the command that runs, in memory that all its threads share: two numbers of a seed, a count of
 * draws, and the time.
 */
interface Shared {
  readonly words: Uint32Array
  readonly time: Float64Array
}

// The shell blocks some of what it finds while a command runs.
const { add } = Atomics
const { imul } = Math

/** The name under which threads that are started from this one find the memory. */
const KEY = 'episodic:virtual-clock'

export type VirtualClock = ReturnType<typeof installVirtualClock>

/**
 * Replaces the time and the chance of this thread by virtual ones, for good: shells, and SQLite and JavaScript in
 * WebAssembly, read them through these functions. Threads that it starts have the same time and chance if they call
 * it too. Call it in a thread of its own, before a library is loaded.
 */
export function installVirtualClock() {
  const given = getEnvironmentData(KEY) as Shared | undefined
  const shared = given ?? {
    words: new Uint32Array(new SharedArrayBuffer(12)),
    time: new Float64Array(new SharedArrayBuffer(8)),
  }
  setEnvironmentData(KEY, shared as unknown as Parameters<typeof setEnvironmentData>[1])
  const { words, time } = shared
  const now = () => time[0] as number

  const parse = installOnePlace()
  const RealDate = Date
  const timeOf = (args: readonly unknown[]): unknown => {
    const [first] = args
    if (args.length === 0) return now()
    if (args.length > 1) return RealDate.UTC(...(args as [number, number]))
    return typeof first === 'string' ? parse(first) : first
  }
  const virtual = function VirtualDate(...args: readonly unknown[]) {
    if (!new.target) return new RealDate(now()).toString()
    return Reflect.construct(RealDate, [timeOf(args)], new.target)
  }
  Object.setPrototypeOf(virtual, RealDate)
  virtual.prototype = RealDate.prototype
  globalThis.Date = Object.assign(virtual, { now, parse }) as unknown as DateConstructor
  RealDate.prototype.constructor = globalThis.Date
  performance.now = now
  // The order of a language depends on what was built into the machine's Node; this is that of LC_ALL=C.
  String.prototype.localeCompare = function compare(this: string, other: string) {
    return this < other ? -1 : this > other ? 1 : 0
  }
  const random = () => (draw(words) * 2 ** 21 + (draw(words) >>> 11)) / 2 ** 53
  Math.random = random
  const fill = <T extends ArrayBufferView>(array: T): T => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
    for (let i = 0; i < bytes.length; i++) bytes[i] = draw(words)
    return array
  }
  globalThis.crypto.getRandomValues = fill as typeof crypto.getRandomValues
  const crypto = createRequire(import.meta.url)('node:crypto') as typeof import('node:crypto')
  const bytes = (count: number) => Buffer.from(fill(new Uint8Array(count)))
  Object.assign(crypto, {
    randomFillSync: (array: ArrayBufferView, offset = 0, size?: number) => {
      fill(new Uint8Array(array.buffer, array.byteOffset + offset, size ?? array.byteLength - offset))
      return array
    },
    randomBytes: bytes,
    randomUUID: () => {
      const hex = bytes(16).toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
    },
  })
  globalThis.crypto.randomUUID = crypto.randomUUID
  syncBuiltinESMExports()

  return {
    get now() {
      return now()
    },
    begin(at: number, [first, second]: readonly [number, number]) {
      time[0] = at
      words.set([first, second, 0])
    },
    random,
    bytes,
    sleep(milliseconds: number) {
      if (milliseconds > 0 && Number.isFinite(milliseconds)) time[0] = now() + milliseconds
    },
  }
}

/**
 * Returns the next 32 random bits: a hash of the seed and of how many were drawn (the finalizer of MurmurHash3, by
 * Austin Appleby), so that threads draw from one sequence without a lock.
 */
function draw(words: Uint32Array): number {
  const count = add(words, 2, 1)
  const mixed = mix((words[0] as number) ^ mix(count + 0x9e3779b9))
  return mix(mixed ^ (words[1] as number))
}

function mix(bits: number): number {
  let mixed = bits
  mixed = imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
