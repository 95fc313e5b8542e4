import { strategyPolicy } from '../strategy-policy.ts'
import { bestColumn } from './best-column.ts'

/** Moves of both sides that the solver looks ahead. */
const PLIES = 9

/**
 * Plays the best column by a search of 9 moves. It takes every win and avoids every loss that are certain within them. It is not a
 * perfect player.
 */
export const solver = strategyPolicy('alpha-beta', ({ columns }) => ({
  tool: 'drop',
  arguments: { column: bestColumn(columns as readonly string[], PLIES).column },
}))
