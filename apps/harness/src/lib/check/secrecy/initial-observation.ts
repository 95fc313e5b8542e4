import type { Beginning } from '../private-pairs.ts'
import { columnsOf, publicReadings } from './public-readings.ts'

/** A private value of which something can be read off the public state where the world begins. */
export interface ToldStart {
  /** What tells it, as in "public.id" or "the order of public.cards". */
  readonly reading: string
  readonly private: string
  /**
   * How much is told: `all` where the reading decides the private value; `order` where the private value decides in what order the
   * same members stand; `part` where it decides anything else that is read, which narrows down what it is.
   */
  readonly tells: 'all' | 'order' | 'part'
}

/** How unlikely an agreement has to be before it is no chance. */
const CHANCE = 1e-9

/**
 * Finds private values that are tied to what can be read off the public state of the start: whenever the one is the same, the
 * other is too, more often than chance allows. Of each private value and each direction the first reading is given.
 */
export function findToldStarts(beginnings: readonly Beginning[]): ToldStart[] {
  const readings = publicReadings(beginnings.map((beginning) => beginning.public))
  const told: ToldStart[] = []
  for (const [path, column] of columnsOf(beginnings.map((beginning) => beginning.private))) {
    const deciding = readings.find(({ values }) => decides(values, column))
    if (deciding) told.push({ reading: deciding.what, private: path, tells: 'all' })
    else
      for (const order of [true, false]) {
        const following = readings.find((reading) => reading.order === order && decides(column, reading.values))
        if (following) told.push({ reading: following.what, private: path, tells: order ? 'order' : 'part' })
      }
  }
  return told
}

/**
 * Whether the second column is a function of the first, and not by chance.
 *
 * With shares p of the second's different values, two independent draws agree with probability Σ p²; n of them agree by chance
 * with about (Σ p²)ⁿ, which has to be below one in a billion. Where neither repeats, the two are compared as they are.
 */
function decides(first: readonly string[], second: readonly string[]): boolean {
  const counts = new Map<string, number>()
  for (const value of second) counts.set(value, (counts.get(value) ?? 0) + 1)
  if (counts.size < 2) return false
  const agreement = [...counts.values()].reduce((sum, count) => sum + (count / second.length) ** 2, 0)
  const seen = new Map<string, string>()
  let repeats = 0
  for (const [i, value] of first.entries()) {
    const known = seen.get(value)
    if (known === undefined) seen.set(value, second[i] as string)
    else if (known === second[i]) repeats += 1
    else return false
  }
  if (agreement ** repeats < CHANCE) return true
  return agreement ** first.length < CHANCE && first.every((value, i) => value === second[i])
}
