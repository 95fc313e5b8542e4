import type { Action, JsonObject } from '@episodic/protocol'

/** The hands of figure 5.2 of Sutton and Barto: the best strategy there is. */
function sticksByTheBook(sum: number, usableAce: boolean, dealer: number): boolean {
  if (usableAce) return sum >= 19 || (sum === 18 && dealer >= 2 && dealer <= 8)
  if (sum >= 17) return true
  if (sum >= 13) return dealer >= 2 && dealer <= 6
  return sum === 12 && dealer >= 4 && dealer <= 6
}

function strategy(sticks: (sum: number, usableAce: boolean, dealer: number) => boolean) {
  return ({ sum, usableAce, dealer }: JsonObject): Action => ({
    tool: 'play',
    arguments: { move: sticks(sum as number, usableAce as boolean, dealer as number) ? 'stick' : 'hit' },
  })
}

/** Strategies with published returns. */
export const strategies = {
  'figure-5.2': strategy(sticksByTheBook),
  'stick-on-20': strategy((sum) => sum >= 20),
  'as-the-dealer': strategy((sum) => sum >= 17),
}
