import { findIn, type Player } from './player.ts'

const STEPS = { left: [0, -1], down: [1, 0], right: [0, 1], up: [-1, 0] } as const

/** Walks the shortest way round the holes from where the map says that it is, however it slips. */
export function playFrozenLake(): Player {
  return (shown) => {
    const [drawn] = findIn(shown, /^([SFHG@]{4}(?:\n[SFHG@]{4}){3})$/gm, 'The map')
    const rows = (drawn as string).split('\n')
    const row = rows.findIndex((tiles) => tiles.includes('@'))
    const column = (rows[row] as string).indexOf('@')
    return { tool: 'move', arguments: { direction: firstStep(rows, row, column) } }
  }
}

/** The first step of a shortest way to the goal, found breadth first. */
function firstStep(rows: readonly string[], row: number, column: number): string {
  const queue: { row: number; column: number; first: string | null }[] = [{ row, column, first: null }]
  const seen = new Set([`${row},${column}`])
  for (const place of queue) {
    if (rows[place.row]?.[place.column] === 'G') return place.first as string
    for (const [direction, [down, right]] of Object.entries(STEPS)) {
      const next = { row: place.row + down, column: place.column + right, first: place.first ?? direction }
      const tile = rows[next.row]?.[next.column]
      if (tile === undefined || tile === 'H' || seen.has(`${next.row},${next.column}`)) continue
      seen.add(`${next.row},${next.column}`)
      queue.push(next)
    }
  }
  throw new Error(`There is no way to the goal on the map:\n${rows.join('\n')}`)
}
