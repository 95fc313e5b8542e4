import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus, xoroshiro128plusFromState } from 'pure-rand/generator/xoroshiro128plus'
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator'
import { sha256Hex } from './digest.ts'

/** Randomness as an argument: every draw comes from a named stream whose state can be saved and restored. */
export interface Rng {
  /** A whole number from `low` to `high`, both included. Throws a `RangeError` when the range is empty or not whole. */
  int(low: number, high: number): number
  /** A number in [0, 1) with 53 random bits. */
  float(): number
  /** `true` with probability `p` (0 to 1, by default one half). */
  chance(p?: number): boolean
  /**
   * One element, each equally likely; of a list of words, the type of those words. Throws a `RangeError` on an empty
   * list.
   */
  pick<const Word extends string>(items: readonly Word[]): Word
  pick<T>(items: readonly T[]): T
  /** A shuffled copy (Fisher–Yates). */
  shuffle<T>(items: readonly T[]): T[]
  /** Another stream of the same seed. Draws from one stream never move another. */
  stream(name: string): Rng
}

/** The position of each stream that was drawn from: plain JSON, kept in the session record. */
export type RngState = { readonly [stream: string]: readonly number[] }

export interface SavableRng extends Rng {
  /** The position of every stream that was ever drawn from. */
  save(): RngState
}

/** The stream that `rng.int()` and the other draws use when no stream is named. */
const MAIN = 'main'

/**
 * Creates the random streams of one seed, from their start or from a saved `state`.
 *
 * Streams are xoroshiro128+ generators, each seeded with the SHA-256 of the seed and the stream's name.
 */
export function createRng(seed: string, state: RngState = {}): SavableRng {
  const live = new Map<string, RandomGenerator>()
  const generatorOf = (name: string): RandomGenerator => {
    let generator = live.get(name)
    if (!generator) {
      const saved = Object.hasOwn(state, name) ? state[name] : undefined
      generator = saved ? xoroshiro128plusFromState(saved) : seededGenerator(seed, name)
      live.set(name, generator)
    }
    return generator
  }
  return {
    ...drawsOf(MAIN, generatorOf),
    save() {
      if (live.size === 0) return state
      const saved: Record<string, readonly number[]> = { ...state }
      for (const [name, generator] of live) saved[name] = generator.getState()
      return saved
    },
  }
}

function seededGenerator(seed: string, name: string): RandomGenerator {
  const hash = sha256Hex(`${seed.length}:${seed}/${name}`)
  // Eight digits are a word of 32 bits, with its sign.
  const words = [0, 8, 16, 24].map((start) => Number.parseInt(hash.slice(start, start + 8), 16) | 0)
  // All-zero is the one state that xoroshiro never leaves.
  return words.every((word) => word === 0) ? xoroshiro128plus(1) : xoroshiro128plusFromState(words)
}

function drawsOf(name: string, generatorOf: (name: string) => RandomGenerator): Rng {
  // Opened at the first draw, so that a world without chance keeps no generator.
  const rng: Rng = {
    int(low, high) {
      if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || high < low)
        throw new RangeError(`rng.int needs two whole numbers, low then high; it got ${low} and ${high}.`)
      return uniformInt(generatorOf(name), low, high)
    },
    float: () => uniformFloat64(generatorOf(name)),
    chance: (p = 0.5) => rng.float() < p,
    pick(items: readonly unknown[]) {
      if (items.length === 0) throw new RangeError('rng.pick needs at least one item; the list is empty.')
      // What fits every list that a caller can have.
      return items[rng.int(0, items.length - 1)] as never
    },
    shuffle(items) {
      const copy = [...items]
      for (let i = copy.length - 1; i > 0; i--) {
        const j = rng.int(0, i)
        ;[copy[i], copy[j]] = [copy[j] as (typeof items)[number], copy[i] as (typeof items)[number]]
      }
      return copy
    },
    stream: (other) => drawsOf(other, generatorOf),
  }
  return rng
}
