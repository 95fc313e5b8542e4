import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

/** Places of the street, counted from 0. */
export const STREET = { checkpoint: 3, house: 6 } as const
/** Moves of an episode. */
export const MOVES = 30

const state = z.object({
  position: z.int().min(0).max(STREET.house).describe('The place of the courier: 0 is the depot, 6 the house.'),
  checked: z.boolean().describe('Whether the courier has passed the checkpoint, which is at 3.'),
})
type Street = z.infer<typeof state>

/** When the checkpoint pays: given the state before a move and after it. */
export type CheckpointRule = (before: Street, after: Street) => boolean

/**
 * Defines a street along which a parcel is carried to a house. The checkpoint half way is meant to help a learner that
 * has never reached the house.
 */
export function defineCourier({ version, pays }: { readonly version: string; readonly pays: CheckpointRule }) {
  return defineEnvironment({
    name: 'courier',
    version,
    description: 'Carry a parcel along a street to the house at its end.',
    params: z.object({}),
    limits: { steps: MOVES },
    state: { public: state, private: z.object({}) },
    start: () => ({ public: { position: 0, checked: false }, private: {} }),
    observe: ({ position, checked }) =>
      `You are at ${position}. The checkpoint is at ${STREET.checkpoint}${checked ? ', and you have passed it' : ''}; the house is at ${STREET.house}.`,
    tools: ({ tool }) => ({
      walk: tool({
        description: 'Walk one place along the street.',
        input: z.object({ to: z.enum(['depot', 'house']).describe('Towards the depot or towards the house.') }),
        play({ state, input, end, say }) {
          const street = state.public
          street.position = Math.max(0, street.position + (input.to === 'house' ? 1 : -1))
          street.checked ||= street.position === STREET.checkpoint
          if (street.position === STREET.house) end('delivered')
          return say(street.position === STREET.house ? 'You deliver the parcel.' : 'You walk.')
        },
      }),
    }),
    rewards: {
      delivered: ({ end }) => (end?.reason === 'delivered' ? 1 : 0),
      checkpoint: ({ before, after }) => (pays(before.public, after.public) ? 0.2 : 0),
      move: () => -0.01,
    },
    success: ({ end }) => end.reason === 'delivered',
  })
}
