export type RateVerdict = 'above' | 'below' | 'undecided'

/** Bets on each side of the limit. More of them decide hardly earlier. */
const BETS = 100

/**
 * Creates a sequential test of a success rate against a limit. It may be looked at after every episode: the chance that
 * it ever says `above` while the true rate is at most the limit is at most `risk`, and so is the chance that it ever
 * says `below` while the rate is at least the limit. Episodes must be independent, such as one of each task.
 *
 * A gambler who starts with 1 bets on every episode against the claim that the rate is at most the limit, at odds that
 * are fair if it is the limit; another one bets against the claim that it is at least the limit. While a claim is true,
 * the wealth that is bet against it is a nonnegative supermartingale, and reaches 1 / risk with probability at most
 * risk (Ville's inequality). Each gambler spreads the 1 evenly over bets of different courage.
 *
 * Waudby-Smith & Ramdas, "Estimating means of bounded random variables by betting", Journal of the Royal Statistical
 * Society B 86 (2024), sections 4 and B.3 (diversified bets); Ville, "Étude critique de la notion de collectif" (1939).
 *
 * @param limit - between 0 and 1, without both.
 * @param risk - between 0 and 1, without both.
 */
export function createSequentialRate(limit: number, risk = 0.05) {
  // A bet on the rate q, which is all the bolder the further q is from the limit, multiplies its wealth by q / limit
  // for a success, and by (1 - q) / (1 - limit) for a failure.
  const courage = Array.from({ length: BETS }, (_, i) => (i + 0.5) / BETS)
  const above = bettingOn(courage.map((part) => limit + part * (1 - limit)))
  const below = bettingOn(courage.map((part) => limit - part * limit))
  let verdict: RateVerdict = 'undecided'
  return {
    /** The first decision stays. */
    add(success: boolean): RateVerdict {
      if (verdict !== 'undecided') return verdict
      const wealthAbove = above(success)
      const wealthBelow = below(success)
      if (wealthAbove >= 1 / risk) verdict = 'above'
      else if (wealthBelow >= 1 / risk) verdict = 'below'
      return verdict
    },
  }

  function bettingOn(rates: readonly number[]): (success: boolean) => number {
    const wealth = rates.map(() => 1 / rates.length)
    return (success) => {
      let total = 0
      for (let i = 0; i < rates.length; i++) {
        const rate = rates[i] as number
        const left = (wealth[i] as number) * (success ? rate / limit : (1 - rate) / (1 - limit))
        wealth[i] = left
        total += left
      }
      return total
    }
  }
}
