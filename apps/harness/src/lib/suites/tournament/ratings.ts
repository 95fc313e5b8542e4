import { createRng } from '@episodic/protocol'
import { quantile } from '@episodic/report'

/** Points that a player won against another, by the numbers of the players: 1 for a win, ½ for a draw. */
export type Points = readonly (readonly number[])[]

/** A rating with its 95 % interval; `null` if there are fewer than two tasks. */
export interface Rating {
  readonly rating: number
  readonly low: number | null
  readonly high: number | null
}

/** The rating of the anchor, and how many points multiply the odds of a win by 10, as in Elo's scale. */
const ANCHOR = 1_000
const PER_TENFOLD = 400
/**
 * Draws that are added to each pair of players that met. Without any, a player who won every match would have an
 * infinite rating.
 */
const ADDED_DRAWS = 1
const RESAMPLES = 1_000
const MOST_ROUNDS = 10_000
const CLOSE = 1e-10

/**
 * Rates players by maximum likelihood in the model of Bradley and Terry: a player with the strength p beats one with q
 * with the probability p / (p + q). The rating is 400 · log₁₀ p, moved so that the anchor has 1,000. It does not depend
 * on the order of the matches. Intervals are the 2.5 % and 97.5 % quantiles over 1,000 bootstrap samples of the tasks.
 *
 * R. A. Bradley, M. E. Terry, "Rank Analysis of Incomplete Block Designs" (1952); the iteration is that of D. R.
 * Hunter, "MM algorithms for generalized Bradley-Terry models" (2004), equation 3; draws count as half a win for each.
 *
 * @param tasks - the points of each task: its matches are not independent of each other.
 * @param anchor - the number of the player that has 1,000; `null` for the mean of all.
 */
export function ratePlayers(tasks: readonly Points[], players: number, anchor: number | null): Rating[] {
  const rate = (points: Points) => onScale(strengthsOf(points, players), anchor)
  const ratings = rate(sumOf(tasks, players))
  if (tasks.length < 2) return ratings.map((rating) => ({ rating, low: null, high: null }))
  const rng = createRng('ratings')
  const resampled = Array.from({ length: RESAMPLES }, () =>
    rate(
      sumOf(
        tasks.map(() => rng.pick(tasks)),
        players,
      ),
    ),
  )
  return ratings.map((rating, player) => {
    const sorted = Float64Array.from(resampled, (one) => one[player] as number).sort()
    return { rating, low: quantile(sorted, 0.025), high: quantile(sorted, 0.975) }
  })
}

function sumOf(tasks: readonly Points[], players: number): number[][] {
  const sum = Array.from({ length: players }, () => new Array<number>(players).fill(0))
  for (const points of tasks)
    points.forEach((row, i) => {
      row.forEach((value, j) => {
        ;(sum[i] as number[])[j] = (sum[i]?.[j] ?? 0) + value
      })
    })
  return sum
}

function strengthsOf(points: Points, players: number): number[] {
  const all = Array.from({ length: players }, (_, i) => i)
  const met = (i: number, j: number) => {
    const matches = (points[i]?.[j] ?? 0) + (points[j]?.[i] ?? 0)
    return matches > 0 ? matches + ADDED_DRAWS : 0
  }
  const won = all.map((i) =>
    all.reduce((sum, j) => sum + (met(i, j) > 0 ? (points[i]?.[j] ?? 0) + ADDED_DRAWS / 2 : 0), 0),
  )
  let strengths = all.map(() => 1)
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const next = all.map((i) => {
      const weights = all.reduce((sum, j) => sum + met(i, j) / ((strengths[i] as number) + (strengths[j] as number)), 0)
      return weights > 0 ? (won[i] as number) / weights : 1
    })
    const mean = Math.exp(next.reduce((sum, strength) => sum + Math.log(strength), 0) / players)
    const scaled = next.map((strength) => strength / mean)
    const moved = Math.max(...scaled.map((strength, i) => Math.abs(Math.log(strength / (strengths[i] as number)))))
    strengths = scaled
    if (moved < CLOSE) break
  }
  return strengths
}

function onScale(strengths: readonly number[], anchor: number | null): number[] {
  const ratings = strengths.map((strength) => PER_TENFOLD * Math.log10(strength))
  const zero = anchor === null ? ratings.reduce((sum, rating) => sum + rating, 0) / ratings.length : ratings[anchor]
  return ratings.map((rating) => rating - (zero as number) + ANCHOR)
}
