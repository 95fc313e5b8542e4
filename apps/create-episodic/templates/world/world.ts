import { defineEnvironment, definePolicy, defineTasks } from 'episodic'
import { z } from 'zod'

const Place = z.object({
  row: z.int().min(1).max(20).describe('From the top.'),
  column: z.int().min(1).max(20).describe('From the left.'),
})

/** A treasure in a square field. Each hole that is dug says how far away it is. */
export const environment = defineEnvironment({
  name: 'treasure',
  version: '1.0.0',
  description: 'Find the treasure in the field with few holes.',
  params: z.object({ size: z.int().min(2).max(20).default(5) }),
  // Players see the public state. The private one is for the rules alone.
  state: { public: z.object({ size: z.int(), holes: z.int() }), private: z.object({ treasure: Place }) },
  start: ({ params: { size }, rng }) => ({
    public: { size, holes: 0 },
    private: { treasure: { row: rng.int(1, size), column: rng.int(1, size) } },
  }),
  observe: ({ size, holes }) => `A field of ${size} rows and ${size} columns, with ${holes} holes.`,
  tools: ({ tool }) => ({
    dig: tool({
      description: 'Dig a hole. The answer says how many steps the treasure is away, in rows and columns together.',
      input: Place,
      output: z.object({ distance: z.int().min(0).max(38).describe('Steps to the treasure; 0 if it is here.') }),
      play({ state, input: { row, column }, refuse, reveal, end, say }) {
        const { size } = state.public
        if (row > size || column > size) return refuse(`The field has ${size} rows and columns.`)
        state.public.holes += 1
        const { treasure } = state.private
        const distance = reveal(Math.abs(treasure.row - row) + Math.abs(treasure.column - column))
        if (distance === 0) end('found')
        return say(distance === 0 ? 'You found it.' : `The treasure is ${distance} steps away.`, { distance })
      },
    }),
  }),
  rewards: { found: ({ end }) => (end?.reason === 'found' ? 1 : 0), hole: () => -0.01 },
  success: ({ end }) => end.reason === 'found',
})

/** What to play: the harder, the larger the field. */
export const tasks = defineTasks({
  name: 'treasure',
  environment,
  generate({ difficulty }) {
    const size = 3 + Math.round(difficulty * 12)
    return {
      prompt: `Find the treasure in a field of ${size} × ${size}.`,
      params: { size },
      difficulty,
      limits: { steps: 20 },
    }
  },
})

/** Who plays it well: digs where the treasure can still be. */
export const solver = definePolicy(environment, {
  name: 'narrowing',
  start({ task }) {
    const { size } = task.params
    let places = Array.from({ length: size * size }, (_, i) => ({
      row: Math.floor(i / size) + 1,
      column: (i % size) + 1,
    }))
    let hole = places[0] as z.output<typeof Place>
    return (_observation, { last }) => {
      const distance = last?.observation.structured?.distance
      places = places.filter(
        ({ row, column }) =>
          distance === undefined || Math.abs(row - hole.row) + Math.abs(column - hole.column) === distance,
      )
      hole = places[Math.floor(places.length / 2)] ?? hole
      return { tool: 'dig', arguments: hole }
    }
  },
})
