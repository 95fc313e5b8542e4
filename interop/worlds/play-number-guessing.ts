import { findIn, type Player } from './player.ts'

/** Guesses the middle of what the hints leave. */
export function playNumberGuessing(): Player {
  let range: { low: number; high: number } | null = null
  let guess = 0
  return (shown) => {
    if (range === null) {
      const [low, high] = findIn(shown, /from (-?\d+) to (-?\d+)/g, 'The range')
      range = { low: Number(low), high: Number(high) }
    } else {
      const [hint] = findIn(shown, /\b(higher|lower)\b/g, 'A hint')
      if (hint === 'higher') range.low = guess + 1
      else range.high = guess - 1
    }
    guess = Math.floor((range.low + range.high) / 2)
    return { tool: 'guess', arguments: { value: guess } }
  }
}
