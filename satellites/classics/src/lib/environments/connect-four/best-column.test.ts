import { rehearse } from '@episodic/mcp-server'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { environment } from '../connect-four.ts'
import { bestColumn } from './best-column.ts'
import { openColumns } from './board.ts'

const PLIES = 3
const anyMoves = fc.array(fc.nat({ max: 6 }), { maxLength: 30 })

describe('bestColumn', () => {
  it('finds what perfect play of the served rules leads to within the searched moves', () => {
    fc.assert(
      fc.property(anyMoves, (drawn) => {
        const moves = playable(drawn)
        const columns = columnsAfter(moves)
        const { column, outcome } = bestColumn(columns, PLIES)
        expect(openColumns(columns)).toContain(column)
        const perfect = outcomeOf(moves, PLIES)
        expect(outcome).toBe(['lost', 'open', 'won'][perfect + 1])
        expect(outcomeAfter([...moves, column], PLIES - 1)).toBe(perfect)
      }),
      { numRuns: 25, examples: [[[2, 0, 3, 0]], [[4, 3, 0, 3, 0, 4, 1, 5, 2]]] },
    )
  })

  it('begins in the centre', () => {
    expect(bestColumn(columnsAfter([]), 6).column).toBe(3)
  })

  it('wins at once where it can, and blocks where it must', () => {
    expect(bestColumn(columnsAfter([0, 6, 1, 6, 2, 6]), 6)).toEqual({ column: 3, outcome: 'won' })
    expect(bestColumn(columnsAfter([0, 5, 1, 5, 3, 5]), 1).column).toBe(2)
    expect(bestColumn(columnsAfter([0, 5, 1, 4, 3]), 2).column).toBe(2)
  })
})

function rehearsalOf(moves: readonly number[]) {
  const rehearsal = rehearse(environment)
  for (const column of moves) rehearsal.play('drop', { column }, { seat: rehearsal.turn[0] as string })
  return rehearsal
}

function columnsAfter(moves: readonly number[]): string[] {
  return rehearsalOf(moves).state.public.columns as string[]
}

/** The longest beginning of some moves after which the game goes on. Moves into full columns are left out. */
function playable(drawn: readonly number[]): number[] {
  const rehearsal = rehearse(environment)
  const moves: number[] = []
  for (const column of drawn) {
    rehearsal.play('drop', { column }, { seat: rehearsal.turn[0] as string })
    if (rehearsal.end) break
    moves.push(column)
  }
  return moves.filter((column, at) => moves.slice(0, at).filter((other) => other === column).length < 6)
}

/** What the side to move gets by perfect play within some moves: 1 for a certain win, −1 for a certain loss, else 0. */
function outcomeOf(moves: readonly number[], plies: number): number {
  if (plies === 0) return 0
  const replies = openColumns(columnsAfter(moves)).map((column) => outcomeAfter([...moves, column], plies - 1))
  return Math.max(...replies)
}

/** The same for the side that made the last move. */
function outcomeAfter(moves: readonly number[], plies: number): number {
  const { end } = rehearsalOf(moves)
  if (end) return end.reason === 'won' ? 1 : 0
  return -outcomeOf(moves, plies) || 0
}
