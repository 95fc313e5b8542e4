import { describe, expect, it } from 'vitest'
import { type Board, isSolved, move } from './board.ts'

const board = (row: string): Board => ['#'.repeat(row.length), row, '#'.repeat(row.length)]
const moved = (row: string, direction: 'left' | 'right') => move(board(row), direction)?.[1] ?? null

describe('move', () => {
  it.each([
    ['#@  #', '# @ #'],
    ['#@. #', '# + #'],
    ['#+  #', '#.@ #'],
    ['#@$ #', '# @$#'],
    ['#@$.#', '# @*#'],
    ['#@*.#', '# +*#'],
    ['#+*.#', '#.+*#'],
  ])('right: %s becomes %s', (before, after) => {
    expect(moved(before, 'right')).toBe(after)
  })

  it.each(['#@#', '#@$#', '#@$$ #', '#@$* #'])('right is blocked: %s', (row) => {
    expect(moved(row, 'right')).toBeNull()
  })

  it('never pulls', () => {
    expect(moved('# @$ #', 'left')).toBe('#@ $ #')
  })
})

describe('isSolved', () => {
  it('is true once no box is off a goal', () => {
    expect(isSolved(board('#@*.#'))).toBe(true)
    expect(isSolved(board('#@*$#'))).toBe(false)
  })
})
