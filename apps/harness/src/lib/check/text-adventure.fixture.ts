import { defineTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

// A world written from the README and docs/write/environments.md alone.

const room = z.enum(['hall', 'library', 'kitchen', 'attic'])
type Room = z.infer<typeof room>
const thing = z.enum(['note', 'key', 'lamp'])
type Thing = z.infer<typeof thing>

const EXITS: Readonly<Record<Room, readonly Room[]>> = {
  hall: ['library', 'kitchen'],
  library: ['hall', 'attic'],
  kitchen: ['hall'],
  attic: ['library'],
}

export const environment = defineEnvironment({
  name: 'old-house',
  version: '1.0.0',
  description:
    'Explore an old house, find the key that is hidden somewhere, and unlock the chest in the attic. A note says where to look.',
  params: z.object({}),
  state: {
    public: z.object({ room, bag: z.array(thing), searched: z.array(room), noteRead: z.boolean() }),
    private: z.object({ places: z.object({ note: room, key: room, lamp: room }) }),
  },
  limits: { steps: 30 },
  start: ({ rng }) => {
    const hidden = rng.pick(['library', 'kitchen'] as const)
    return {
      public: { room: 'hall', bag: [], searched: [], noteRead: false },
      private: { places: { note: 'hall', key: hidden, lamp: 'kitchen' } },
    }
  },
  observe: ({ room: here, bag }) =>
    `You are in the ${here}. Exits: ${EXITS[here].join(', ')}. You carry: ${bag.join(', ') || 'nothing'}.`,
  tools: ({ tool }) => ({
    go: tool({
      description: 'Go to another room.',
      input: z.object({ to: room.describe('The room to go to.') }),
      play({ state, input, refuse, say }) {
        if (!EXITS[state.public.room].includes(input.to)) return refuse(`No exit leads to the ${input.to}.`)
        state.public.room = input.to
        return say('You go.')
      },
    }),
    search: tool({
      description: 'Search the room: a note, a key or a lamp may be in it.',
      input: z.object({}),
      play({ state, reveal, say }) {
        const { room: here, bag, searched } = state.public
        const { places } = state.private
        const found = reveal(
          (Object.keys(places) as Thing[]).filter((item) => places[item] === here && !bag.includes(item)),
        )
        bag.push(...found)
        if (!searched.includes(here)) searched.push(here)
        return say(found.length > 0 ? `You find: ${found.join(', ')}.` : 'You find nothing.')
      },
    }),
    read: tool({
      description: 'Read the note, if you have it.',
      input: z.object({}),
      play({ state, reveal, refuse, say }) {
        if (!state.public.bag.includes('note')) return refuse('You have no note to read.')
        state.public.noteRead = true
        return say(`It says: look in the ${reveal(state.private.places.key)}.`)
      },
    }),
    unlock: tool({
      description: 'Unlock the chest, where it stands.',
      input: z.object({}),
      play({ state, refuse, end, say }) {
        if (state.public.room !== 'attic') return refuse('There is no chest here.')
        if (!state.public.bag.includes('key')) return refuse('You have no key.')
        end('opened')
        return say('The chest opens. It is full of gold.')
      },
    }),
  }),
  rewards: {
    opened: ({ end }) => (end?.reason === 'opened' ? 1 : 0),
    found: ({ before, after }) => (!before.public.bag.includes('key') && after.public.bag.includes('key') ? 0.2 : 0),
    step: () => -0.01,
  },
})

export const tasks = defineTasks({
  name: 'old-house',
  environment,
  generate: ({ difficulty }) => ({ prompt: 'Open the chest.', params: {}, difficulty }),
})

/** Reads the note and follows it. */
export const solver = definePolicy({
  name: 'reader',
  start() {
    const plan = ['search', 'read']
    let asked = false
    return (observation) => {
      const said = /look in the (\w+)/.exec(observation.text)?.[1]
      if (said !== undefined && !asked) {
        asked = true
        plan.push(
          `go ${said}`,
          'search',
          ...(said === 'kitchen' ? ['go hall', 'go library'] : []),
          'go attic',
          'unlock',
        )
      }
      const [tool, to] = (plan.shift() as string).split(' ')
      return to === undefined ? { tool: tool as string, arguments: {} } : { tool: tool as string, arguments: { to } }
    }
  },
})
