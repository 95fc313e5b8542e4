import { createHash } from 'node:crypto'

/** Chance as of `random.Random(seed)`. */
export interface PythonRandom {
  /** How many words of 32 bits were drawn: with the seed, the whole state. */
  readonly drawn: number
  random(): number
  randint(low: number, high: number): number
  uniform(low: number, high: number): number
  choice<T>(items: readonly T[]): T
  shuffle(items: unknown[]): void
  sample<T>(items: readonly T[], count: number): T[]
}

/** Returns `random.Random(seed)` after `drawn` words: a state keeps two numbers instead of 624. */
export function createPythonRandom(seed: number | bigint | string, drawn = 0): PythonRandom {
  const next = createTwister(wordsOf(seed))
  let count = 0
  const word = () => {
    count += 1
    return next()
  }
  while (count < drawn) word()

  const bits = (width: number) => {
    // Up to 53 bits: the lowest word is drawn first.
    const low = width > 32 ? word() : 0
    const high = word() >>> ((64 - width) % 32)
    return width > 32 ? high * 2 ** 32 + low : high
  }
  const below = (limit: number) => {
    const width = limit.toString(2).length
    let drawnNumber = bits(width)
    while (drawnNumber >= limit) drawnNumber = bits(width)
    return drawnNumber
  }
  const random = () => {
    const high = word() >>> 5
    return (high * 67_108_864 + (word() >>> 6)) / 9_007_199_254_740_992
  }
  return {
    get drawn() {
      return count
    },
    random,
    randint: (low, high) => low + below(high - low + 1),
    uniform: (low, high) => low + (high - low) * random(),
    choice: <T>(items: readonly T[]) => items[below(items.length)] as T,
    shuffle(items) {
      for (let index = items.length - 1; index > 0; index -= 1) {
        const other = below(index + 1)
        ;[items[index], items[other]] = [items[other], items[index]]
      }
    },
    sample<T>(items: readonly T[], size: number) {
      const total = items.length
      // CPython keeps a pool if it is smaller than a set of what was taken.
      const poolSize = 21 + (size > 5 ? 4 ** Math.ceil(Math.log(size * 3) / Math.log(4)) : 0)
      const pool = [...items]
      const taken = new Set<number>()
      return Array.from({ length: size }, (_, index) => {
        if (total <= poolSize) {
          const at = below(total - index)
          const item = pool[at] as T
          pool[at] = pool[total - index - 1] as T
          return item
        }
        let at = below(total)
        while (taken.has(at)) at = below(total)
        taken.add(at)
        return items[at] as T
      })
    },
  }
}

/** Returns the words of 32 bits, lowest first, that CPython seeds the generator with. */
function wordsOf(seed: number | bigint | string): number[] {
  const hexOf = (text: string) => Buffer.from(text).toString('hex') + createHash('sha512').update(text).digest('hex')
  let whole = BigInt(typeof seed === 'string' ? `0x${hexOf(seed)}` : seed)
  if (whole < 0n) whole = -whole
  const words: number[] = []
  for (; whole > 0n; whole >>= 32n) words.push(Number(whole & 0xffffffffn))
  return words.length > 0 ? words : [0]
}

const SIZE = 624
const SHIFT = 397

/** Returns MT19937 seeded by an array, which draws a word of 32 bits at each call. */
function createTwister(key: readonly number[]): () => number {
  const state = new Uint32Array(SIZE)
  const mixed = (index: number) => {
    const before = state[index - 1] as number
    return before ^ (before >>> 30)
  }
  state[0] = 19_650_218
  for (let index = 1; index < SIZE; index += 1) state[index] = Math.imul(1_812_433_253, mixed(index)) + index
  let index = 1
  const advance = (value: number) => {
    state[index] = value
    index += 1
    if (index < SIZE) return
    state[0] = state[SIZE - 1] as number
    index = 1
  }
  state[0] = 19_650_218
  for (let step = 0; step < Math.max(SIZE, key.length); step += 1) {
    const at = step % key.length
    advance(((state[index] as number) ^ Math.imul(mixed(index), 1_664_525)) + (key[at] as number) + at)
  }
  for (let step = 0; step < SIZE - 1; step += 1)
    advance(((state[index] as number) ^ Math.imul(mixed(index), 1_566_083_941)) - index)
  state[0] = 0x8000_0000

  let position = SIZE
  return () => {
    if (position === SIZE) {
      for (let at = 0; at < SIZE; at += 1) {
        const joined = ((state[at] as number) & 0x8000_0000) | ((state[(at + 1) % SIZE] as number) & 0x7fff_ffff)
        state[at] = (state[(at + SHIFT) % SIZE] as number) ^ (joined >>> 1) ^ (joined & 1 ? 0x9908_b0df : 0)
      }
      position = 0
    }
    let word = state[position] as number
    position += 1
    word ^= word >>> 11
    word ^= (word << 7) & 0x9d2c_5680
    word ^= (word << 15) & 0xefc6_0000
    return (word ^ (word >>> 18)) >>> 0
  }
}
