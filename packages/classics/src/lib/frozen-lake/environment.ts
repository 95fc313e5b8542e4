import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'
import { distancesOf } from './distance.ts'
import { MAPS, type MapName, MOVES, tilesOf } from './maps.ts'
import { DIRECTIONS, directionsOf, neighbour } from './moves.ts'

/** Constants of each lake, computed once. */
const LAKES = { '4x4': surveyLake('4x4'), '8x8': surveyLake('8x8') }

/** Cross a frozen lake without falling into a hole: Gymnasium's FrozenLake-v1. */
export const environment = defineEnvironment({
  name: 'frozen-lake',
  version: '1.2.0',
  description: 'Cross a frozen lake from the start to the goal without falling into a hole. The ice may be slippery.',
  handle: 'walk',
  params: z.object({ map: z.enum(['4x4', '8x8']).default('4x4'), slippery: z.boolean().default(true) }),
  state: {
    public: z.object({
      map: z
        .array(z.string().describe('One row, a letter for each tile.'))
        .describe('The rows of the lake: S is the start, F ice, H a hole, G the goal.'),
      slippery: z.boolean().describe('Whether a move may take you to either side of where you want to go.'),
      position: z.int().min(0).describe('The tile where you are, counted row by row from 0 at the top left.'),
    }),
    private: z.object({}),
  },
  limits: ({ map }) => ({ steps: MOVES[map] }),
  start: ({ params }) => ({
    public: { map: [...MAPS[params.map]], slippery: params.slippery, position: tilesOf(params.map).indexOf('S') },
    private: {},
  }),
  observe: ({ map, slippery, position }) =>
    `You are at @ on ${slippery ? 'slippery' : 'firm'} ice (F; S is the start). Reach the goal (G), and keep out of the holes (H).\n` +
    drawMap(map, position),
  tools: ({ tool }) => ({
    move: tool({
      description:
        'Move one tile. On firm ice you go where you want. On slippery ice you go there or to either side of it, equally likely. At the edge of the lake you stay where you are.',
      input: z.object({ direction: z.enum(DIRECTIONS).describe('Where you want to go, as seen on the map.') }),
      play({ state, input, params, rng, end, say }) {
        const { tiles } = LAKES[params.map]
        const from = state.public.position
        const directions = directionsOf(params.map, params.slippery, from, input.direction)
        const position = directions.length > 0 ? neighbour(params.map, from, rng.pick(directions)) : from
        state.public.position = position
        if (tiles[position] === 'G') {
          end('goal')
          return say('You reached the goal.')
        }
        if (tiles[position] === 'H') {
          end('hole')
          return say('You fell into a hole.')
        }
        return say(
          `You tried to go ${input.direction}, and ${position === from ? 'are where you were' : 'moved one tile'}.`,
        )
      },
    }),
  }),
  rewards: {
    goal: ({ before, after, end }) =>
      end?.reason === 'goal' && after.public.position !== before.public.position ? 1 : 0,
  },
  // Φ: 1 at the goal, less the share of the longest distance that remains; 0 in a hole.
  potential({ public: { position } }, { map }) {
    const { distances, longest } = LAKES[map]
    return Math.max(0, 1 - (distances[position] ?? Number.POSITIVE_INFINITY) / longest)
  },
})

function surveyLake(map: MapName) {
  const distances = distancesOf(map)
  return { tiles: tilesOf(map), distances, longest: Math.max(...distances.filter(Number.isFinite)) }
}

function drawMap(rows: readonly string[], position: number): string {
  const size = rows.length
  const tiles = rows.join('')
  const drawn = `${tiles.slice(0, position)}@${tiles.slice(position + 1)}`
  return rows.map((_, row) => drawn.slice(row * size, (row + 1) * size)).join('\n')
}
