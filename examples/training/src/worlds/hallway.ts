import { defineTasks } from '@episodic/dataset'
import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** Rooms of the longest walk. */
export const LENGTH = 12

/** The right exit of each room, the same in every episode. */
export const RIGHT = [2, 0, 3, 1, 1, 3, 0, 2, 3, 2, 1, 0] as const

/**
 * A row of rooms with four exits each. One exit of a room leads on, and all others end the episode: chance alone gets
 * through d rooms in one of 4^d episodes. The tasks start at a distance from 1 to 12 rooms from the end.
 */
export const hallway = defineEnvironment({
  name: 'hallway',
  version: '1.0.0',
  description: 'Walk through the rooms to the end. One of the four exits of each room leads on.',
  handle: false,
  params: z.object({ distance: z.int().min(1).max(LENGTH) }),
  state: { public: z.object({ room: z.int() }), private: z.object({}) },
  limits: { steps: LENGTH },
  start: ({ params }) => ({ public: { room: LENGTH - params.distance }, private: {} }),
  observe: ({ room }) => `You are in room ${room}.`,
  tools: ({ tool }) => ({
    leave: tool({
      description: 'Take an exit.',
      input: z.object({ exit: z.int().min(0).max(3) }),
      play({ state, input, end, say }) {
        if (input.exit !== RIGHT[state.public.room]) {
          end('wrong')
          return say('The exit leads out.')
        }
        state.public.room += 1
        if (state.public.room === LENGTH) end('through')
        return say('You walk on.')
      },
    }),
  }),
  rewards: { through: ({ end }) => (end?.reason === 'through' ? 1 : 0) },
})

export const hallwayTasks = defineTasks({
  name: 'hallway',
  environment: hallway,
  generate({ difficulty }) {
    const distance = Math.min(LENGTH, 1 + Math.floor(difficulty * LENGTH))
    return {
      prompt: 'Walk through the rooms to the end.',
      params: { distance },
      difficulty: (distance - 0.5) / LENGTH,
      seed: 'the same',
    }
  },
})
