export type Tile = 'S' | 'F' | 'H' | 'G'

/** Gymnasium's two lakes, row by row from the top. */
export const MAPS = {
  '4x4': ['SFFF', 'FHFH', 'FFFH', 'HFFG'],
  '8x8': ['SFFFFFFF', 'FFFFFFFF', 'FFFHFFFF', 'FFFFFHFF', 'FFFHFFFF', 'FHHFFFHF', 'FHFFHFHF', 'FFFHFFFG'],
} as const

export type MapName = keyof typeof MAPS

/** Step limits, as in Gymnasium's FrozenLake-v1 and FrozenLake8x8-v1. */
export const MOVES = { '4x4': 100, '8x8': 200 } as const

/** The tiles of a lake by position, which counts them row by row from 0. */
export function tilesOf(map: MapName): readonly Tile[] {
  return [...MAPS[map].join('')] as Tile[]
}

/** The directions in Gymnasium's order, in which action 0 is left. Neighbors in the cyclic order are perpendicular. */
export const DIRECTIONS = ['left', 'down', 'right', 'up'] as const

export const GRIDS = { '4x4': { rows: 4, columns: 4 }, '8x8': { rows: 8, columns: 8 } } as const

export function isEnd(tile: Tile | undefined): boolean {
  return tile === 'H' || tile === 'G'
}
