import type { Rng } from '@episodic/protocol'

/** The values of an infinite deck, each equally likely: an ace is 1, and ten, jack, queen and king are 10. */
export const DECK = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10] as const

/** What a hand is worth. */
export interface Hand {
  /** An ace counts as 11 where that does not exceed 21. */
  readonly sum: number
  /** Whether an ace counts as 11. */
  readonly usableAce: boolean
}

export function drawCard(rng: Rng): number {
  return rng.pick(DECK)
}

export function handOf(first: number, second: number): Hand {
  return addCard(addCard({ sum: 0, usableAce: false }, first), second)
}

export function addCard({ sum, usableAce }: Hand, card: number): Hand {
  const raised = card === 1 && sum + 11 <= 21
  const added = sum + (raised ? 11 : card)
  return usableAce && added > 21
    ? { sum: added - 10, usableAce: false }
    : { sum: added, usableAce: usableAce || raised }
}

export function formatCard(card: number): string {
  return card === 1 ? 'an ace' : card === 8 ? 'an 8' : `a ${card}`
}
