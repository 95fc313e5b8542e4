import { defineTasks } from '@episodic/dataset'
import { defineEnvironment } from '@episodic/mcp-server'
import type { Json, JsonObject } from '@episodic/protocol'
import { z } from 'zod'
import type { Classic } from '../classic.ts'
import { measureOf } from '../measure-reference.ts'
import { tabledReferences } from '../tabled-references.ts'
import { optimalPolicy } from '../tabled-world.ts'
import { DIRECTIONS, DISTANCES, GOAL, GRID, isCliff, START } from './cliff-walking/grid.ts'
import { directionsOf, neighbour } from './grid-walk.ts'

/** Walk along a cliff without falling: Gymnasium's CliffWalking-v1, and example 6.6 of Sutton and Barto. */
export const environment = defineEnvironment({
  name: 'cliff-walking',
  version: '1.0.0',
  description: 'Walk from one end of a cliff to the other. Who falls starts again. The ground may be slippery.',
  handle: 'walk',
  params: z.object({ slippery: z.boolean().default(false) }),
  state: {
    public: z.object({
      position: z
        .int()
        .min(0)
        .max(GOAL)
        .describe('The square where you are, counted row by row from 0 at the top left.'),
      slippery: z.boolean().describe('Whether a move may take you to either side of where you want to go.'),
      falls: z.int().min(0).describe('How often you have fallen.'),
    }),
    private: z.object({}),
  },
  // Gymnasium has no limit.
  limits: { steps: 200 },
  start: ({ params }) => ({ public: { position: START, slippery: params.slippery, falls: 0 }, private: {} }),
  observe: ({ position, slippery }) =>
    `You are at @ on ${slippery ? 'slippery' : 'firm'} ground. Reach the goal (G). Who steps onto the cliff (C) falls, and is back at the start (S).\n${drawMap(position)}`,
  legal: () => ({ move: DIRECTIONS.map((direction) => ({ direction })) }),
  tools: ({ tool }) => ({
    move: tool({
      description:
        'Move one square. On firm ground you go where you want. On slippery ground you go there or to either side of it, equally likely. At the edge of the map you stay where you are.',
      input: z.object({ direction: z.enum(DIRECTIONS).describe('Where you want to go, as seen on the map.') }),
      play({ state, input, params, rng, end, say }) {
        const from = state.public.position
        const directions = directionsOf(DIRECTIONS, params.slippery, input.direction)
        const next = neighbour(GRID, from, rng.pick(directions))
        state.public.position = isCliff(next) ? START : next
        if (isCliff(next)) {
          state.public.falls += 1
          return say('You fell off the cliff, and are back at the start.')
        }
        if (next !== GOAL) return say(next === from ? 'You are where you were.' : 'You moved one square.')
        end('goal')
        return say('You reached the goal.')
      },
    }),
  }),
  rewards: {
    step: ({ before, after }) => (after.public.falls > before.public.falls ? 0 : -1),
    fall: ({ before, after }) => (after.public.falls > before.public.falls ? -100 : 0),
  },
  // Φ: one less for each move that is left on firm ground.
  potential: ({ public: { position } }) => 0 - (DISTANCES[position] as number),
  success: ({ end }) => end.reason === 'goal',
  check: {
    waive: {
      'exploit-pays':
        'The classic has costs and no prize, so a walk that is given up costs less than one that arrives.',
      'exploit-ties': 'The same: who leaves at once has paid little.',
    },
  },
})

function drawMap(position: number): string {
  const rowAt = (row: number) =>
    Array.from({ length: GRID.columns }, (_, column) => letterAt(row * GRID.columns + column, position)).join('')
  return Array.from({ length: GRID.rows }, (_, row) => rowAt(row)).join('\n')
}

function letterAt(square: number, position: number): string {
  if (square === position) return '@'
  if (square === START) return 'S'
  if (square === GOAL) return 'G'
  return isCliff(square) ? 'C' : '.'
}

/** Two stages. On firm ground nothing is drawn, so there is one task; on slippery ground there is one for each seed. */
export const tasks = defineTasks({
  name: 'cliff-walking',
  environment,
  generate({ difficulty }) {
    const slippery = difficulty >= 0.5
    return {
      prompt: `Walk to the goal (G) in as few moves as you can. A fall off the cliff (C) costs as much as 100 moves${slippery ? '. The ground is slippery' : ''}.`,
      hints: slippery
        ? ['Next to the cliff, even a move away from it may slip along it, but never down.']
        : ['The shortest way leads along the edge.'],
      params: { slippery },
      difficulty: slippery ? 0.75 : 0.25,
      tags: [slippery ? 'slippery' : 'firm'],
      ...(slippery ? {} : { seed: 'firm' }),
    }
  },
})

function states({ slippery = false }: JsonObject): JsonObject[] {
  return DISTANCES.map((_, position) => ({ position, slippery, falls: 0 }))
}

function getPosition({ position = null }: JsonObject): Json {
  return position
}

/** Plays the optimal action for the steps that are left. */
export const solver = optimalPolicy({ environment, states, keyOf: getPosition })

/** Gymnasium's CliffWalking-v1, which has no limit of steps: 200 is this package's own, and part of the figures. */
export const references = tabledReferences([
  {
    variant: 'firm',
    params: { slippery: false },
    sha256: '54c24b4ff322f1a313477ce3243eca50e29d4f9968fd07ef64d67dec0102aac3',
    optimal: -13,
    uniform: -2079.115971009,
    publishedBy: 'Sutton and Barto, Reinforcement Learning, 2nd edition, example 6.6',
  },
  {
    variant: 'slippery',
    params: { slippery: true },
    sha256: '20cbb33a951bf7f25ddf4480fd4970d77446730b792e4577999bab898a10ef82',
    optimal: -64.702307608223,
    uniform: -2079.115971009,
  },
])

export const cliffWalking: Classic = { environment, tasks, solver, references, keyOf: getPosition, states }
export const measure = measureOf(cliffWalking)
