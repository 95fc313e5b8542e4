import type { Rng } from '@episodic/protocol'
import { addCard, DECK, type Hand } from './cards.ts'

/** The sum from which the dealer draws no more; an ace that counts as 11 makes no difference. */
const STANDS = 17

/** Stands for every sum over 21. */
const OVER = 22

const known = new Map<string, ReadonlyMap<number, number>>()

/**
 * Draws the sum with which the dealer ends. It is drawn at once, with the chances of all cards that lead to it: nobody
 * sees these cards, and a solver need not go through their sequences, which are tens of thousands.
 */
export function drawTotal(dealt: Hand, rng: Rng): number {
  const totals = [...totalsOf(dealt)]
  let rest = 1
  for (const [total, probability] of totals.slice(0, -1)) {
    if (rng.chance(probability / rest)) return total
    rest -= probability
  }
  return (totals.at(-1) as [number, number])[0]
}

/** The sums with which the dealer may end, and their probabilities. */
function totalsOf(hand: Hand): ReadonlyMap<number, number> {
  if (hand.sum >= STANDS) return new Map([[Math.min(hand.sum, OVER), 1]])
  const key = `${hand.sum} ${hand.usableAce}`
  const totals = known.get(key) ?? sumOver(DECK.map((card) => totalsOf(addCard(hand, card))))
  known.set(key, totals)
  return totals
}

/** The mean of distributions. */
function sumOver(distributions: readonly ReadonlyMap<number, number>[]): ReadonlyMap<number, number> {
  const sums = new Map<number, number>()
  for (const distribution of distributions)
    for (const [total, probability] of distribution)
      sums.set(total, (sums.get(total) ?? 0) + probability / distributions.length)
  return sums
}
