import { ServerError } from '@episodic/mcp-server'
import type { SavableRng } from '@episodic/protocol/internal'

export interface Branch<T> {
  readonly probability: number
  readonly value: T
}

/** Adds up the probabilities of equal values. Those in another order of keys stay apart, which costs time alone. */
export function mergeBranches<T>(branches: readonly Branch<T>[]): Branch<T>[] {
  if (branches.length === 1) return [...branches]
  const alike = Map.groupBy(branches, ({ value }) => JSON.stringify(value))
  return [...alike.values()].map((of) => ({
    value: (of[0] as Branch<T>).value,
    probability: of.reduce((sum, { probability }) => sum + probability, 0),
  }))
}

/** Ways that chance can go in one run, before enumerating them is given up, if the caller does not say. */
const MOST_BRANCHES = 1_000_000

/**
 * Runs a function once for each way in which its draws can go, and returns the results in the order of the draws:
 * `pick` takes the items in their order, `int` counts upwards, `chance` is `true` first.
 *
 * Equal words or numbers of a `pick` are one way. Throws `option-invalid` for `float`, which has too many values, and
 * above `mostBranches` ways. Default: a million.
 */
export function enumerateDraws<T>(run: (rng: SavableRng) => T, mostBranches = MOST_BRANCHES): Branch<T>[] {
  const branches: Branch<T>[] = []
  const path: { at: number; readonly weights: readonly number[] }[] = []
  do {
    let depth = 0
    let probability = 1
    const draw = (weights: readonly number[]): number => {
      if (weights.length === 1) return 0
      if (depth === path.length) path.push({ at: 0, weights })
      const { at } = path[depth++] as (typeof path)[number]
      probability *= weights[at] as number
      return at
    }
    const value = run(branchingRng(draw))
    branches.push({ probability, value })
    if (branches.length > mostBranches)
      throw new ServerError('option-invalid', `Chance can go in more than ${mostBranches} ways, too many to enumerate.`)
    path.length = path.findLastIndex(({ at, weights }) => at < weights.length - 1) + 1
    const last = path.at(-1)
    if (last) last.at += 1
  } while (path.length > 0)
  return branches
}

/** An rng that asks for each draw with the weights of its results, in order. */
function branchingRng(draw: (weights: readonly number[]) => number): SavableRng {
  const rng: SavableRng = {
    int(low, high) {
      const count = high - low + 1
      if (!Number.isSafeInteger(low) || !(count >= 1)) throw new RangeError(`rng.int got ${low} and ${high}.`)
      if (count > MOST_BRANCHES)
        throw new ServerError('option-invalid', `rng.int(${low}, ${high}) has ${count} results, too many to enumerate.`)
      return low + draw(new Array<number>(count).fill(1 / count))
    },
    float() {
      throw new ServerError(
        'option-invalid',
        'rng.float has too many results to enumerate. Only rules that draw with pick, int, chance or shuffle can be solved.',
      )
    },
    chance(p = 0.5) {
      if (p <= 0 || p >= 1) return p >= 1
      return draw([p, 1 - p]) === 0
    },
    pick(items: readonly unknown[]) {
      if (items.length === 0) throw new RangeError('rng.pick needs at least one item; the list is empty.')
      const counts = new Map<unknown, number>()
      for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
      const weights = [...counts.values()].map((count) => count / items.length)
      // What fits every list that a caller can have.
      return [...counts.keys()][draw(weights)] as never
    },
    shuffle(items) {
      const left = [...items]
      return items.map(() => left.splice(rng.int(0, left.length - 1), 1)[0] as (typeof items)[number])
    },
    stream: () => rng,
    save: () => ({}),
  }
  return rng
}
