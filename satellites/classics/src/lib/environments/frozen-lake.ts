import { defineTasks } from '@episodic/dataset'
import { defineEnvironment } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import { tabledReferences } from '../tabled-references.ts'
import { optimalPolicy } from '../tabled-world.ts'
import { DIRECTIONS, GRIDS, isEnd, MAPS, type MapName, MOVES, tilesOf } from './frozen-lake/maps.ts'
import { directionsOf, distancesTo, neighbour } from './grid-walk.ts'

/** The tiles of each lake, and the moves from each to the goal on firm ice; `Infinity` from a hole. */
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
        const directions = directionsOf(DIRECTIONS, params.slippery, input.direction)
        // A hole and the goal hold a walker.
        const position = isEnd(tiles[from]) ? from : neighbour(GRIDS[params.map], from, rng.pick(directions))
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
  const tiles = tilesOf(map)
  // All moves are reversible, except into holes and the goal.
  const distances = distancesTo(tiles.indexOf('G'), tiles.length, (position) =>
    DIRECTIONS.map((direction) => neighbour(GRIDS[map], position, direction)).filter((next) => !isEnd(tiles[next])),
  )
  return { tiles, distances, longest: Math.max(...distances.filter(Number.isFinite)) }
}

function drawMap(rows: readonly string[], position: number): string {
  const size = rows.length
  const tiles = rows.join('')
  const drawn = `${tiles.slice(0, position)}@${tiles.slice(position + 1)}`
  return rows.map((_, row) => drawn.slice(row * size, (row + 1) * size)).join('\n')
}

const STAGES = [
  { map: '4x4', slippery: false },
  { map: '8x8', slippery: false },
  { map: '4x4', slippery: true },
  { map: '8x8', slippery: true },
] as const

/** Four stages by map and ice. There is one task for each map of firm ice, and any number for slippery ice. */
export const tasks = defineTasks({
  name: 'frozen-lake',
  environment,
  generate({ difficulty }) {
    const stage = Math.min(STAGES.length - 1, Math.floor(difficulty * STAGES.length))
    const { map, slippery } = STAGES[stage] as (typeof STAGES)[number]
    return {
      prompt: `Cross the ${slippery ? 'slippery ' : ''}frozen lake to the goal (G) in at most ${MOVES[map]} moves. Do not fall into a hole (H).`,
      hints: slippery
        ? [
            'You slip to a side of where you want to go twice as often as you go there, and never backwards.',
            'Next to a hole, move away from it: then you cannot slip into it.',
          ]
        : ['You always go where you want to.'],
      params: { map, slippery },
      difficulty: (stage + 0.5) / STAGES.length,
      tags: [map, slippery ? 'slippery' : 'firm'],
      // Nothing is drawn on firm ice, so all rows of one map are the same task.
      ...(slippery ? {} : { seed: 'firm' }),
    }
  },
})

function states({ map: name, slippery = true }: JsonObject): JsonObject[] {
  const map = name as MapName
  return tilesOf(map).map((_, position) => ({ map: [...MAPS[map]], slippery, position }))
}

/** Plays the optimal move for the remaining moves. No policy reaches the goal more often within the step limit. */
export const solver = optimalPolicy({ environment, states })

/** Gymnasium's FrozenLake-v1 and FrozenLake8x8-v1. Its registered thresholds are 0.70 and 0.85. */
export const references = tabledReferences([
  {
    variant: '4x4-slippery',
    params: { map: '4x4', slippery: true },
    sha256: '06d5222b61fec30f32f4d9c982f9aac0ea8fab522f59eac56858b042bacf3756',
    optimal: 0.744190287829,
    uniform: 0.013939795959,
  },
  {
    variant: '8x8-slippery',
    params: { map: '8x8', slippery: true },
    sha256: 'e2cbb8f962c2c52d70424b449b3c4b348361624e17ee212e4e5400ef1000464a',
    optimal: 0.913220150202,
    uniform: 0.001901395495,
  },
  {
    variant: '4x4-firm',
    params: { map: '4x4', slippery: false },
    sha256: '695d567341441f1d37132949130ef52ea5d2bcb97ea9963435c495a956bf88be',
    optimal: 1,
    uniform: 0.013939795959,
  },
  {
    variant: '8x8-firm',
    params: { map: '8x8', slippery: false },
    sha256: 'a88ce41aeb0d00f425447aec15fd9a496ed5f2a0a0a141fdd8b3eabeb5578c6f',
    optimal: 1,
    uniform: 0.001901395495,
  },
])

export const frozenLake: Classic = { environment, tasks, solver, references, states }
export const measure = measureOf(frozenLake)
