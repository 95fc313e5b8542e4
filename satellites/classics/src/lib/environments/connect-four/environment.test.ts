import { rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { environment } from '../connect-four.ts'
import { openColumns } from './board.ts'

describe('connect-four', () => {
  it('has as many positions after each of the first moves as another implementation counts', () => {
    let positions = new Map<string, readonly number[]>([['', []]])
    const counts = [1]
    for (let move = 1; move <= 4; move++) {
      const next = new Map<string, readonly number[]>()
      for (const moves of positions.values())
        for (const column of openColumns(columnsAfter(moves))) {
          const played = [...moves, column]
          next.set(columnsAfter(played).join(), played)
        }
      counts.push(next.size)
      positions = next
    }
    expect(counts).toEqual([1, 7, 49, 238, 1_120])
  })
})

function columnsAfter(moves: readonly number[]): string[] {
  const rehearsal = rehearse(environment)
  for (const column of moves) rehearsal.play('drop', { column }, { seat: rehearsal.turn[0] as string })
  return rehearsal.state.public.columns as string[]
}
