import { defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

const Speaker = z.enum(['agent', 'user'])
const Setting = z.enum(['airplane-mode', 'mobile-data'])

/** What only the customer sees: the phone in the hand. */
const phone = z.object({ airplaneMode: z.boolean(), mobileData: z.boolean() })

/**
 * A service desk with dual control: the agent can change the line, the customer the phone, and neither sees what the
 * other does. They take turns by speaking; every other tool keeps the turn.
 */
export const environment = defineGame({
  name: 'phone-support',
  version: '1.0.0',
  description: 'A customer has no mobile data. The agent can see and restore the line, the customer the phone.',
  seats: ['agent', 'user'],
  utility: 'general',
  params: z.object({ faults: z.int().min(1).max(3).default(1) }),
  state: {
    public: z.object({
      speaker: Speaker,
      said: z.array(z.object({ by: Speaker, text: z.string() })),
    }),
    own: z.object({ phone: phone.optional(), lineActive: z.boolean().optional() }),
    private: z.object({ lineActive: z.boolean() }),
  },
  limits: { steps: 30 },
  start({ rng, params }) {
    const faults = rng.shuffle(['airplane-mode', 'data-off', 'suspended'] as const).slice(0, params.faults)
    return {
      public: { speaker: 'user', said: [] },
      own: {
        agent: {},
        user: { phone: { airplaneMode: faults.includes('airplane-mode'), mobileData: !faults.includes('data-off') } },
      },
      private: { lineActive: !faults.includes('suspended') },
    }
  },
  turn: ({ speaker }) => speaker,
  observe({ seat, public: { said }, own }) {
    const last = said.at(-1)
    const heading = last && last.by !== seat ? `The ${last.by} says: ${last.text}` : 'It is your turn to speak.'
    const seen = own.phone
      ? [`Your phone: airplane mode ${onOff(own.phone.airplaneMode)}, mobile data ${onOff(own.phone.mobileData)}.`]
      : own.lineActive === undefined
        ? []
        : [`The line was ${own.lineActive ? 'active' : 'suspended'} when you last looked.`]
    return [heading, ...seen].join('\n')
  },
  tools: ({ tool }) => ({
    say: tool({
      description: 'Say something to the other one. Then it is their turn.',
      input: z.object({ text: z.string().min(1).max(1_000) }),
      play({ seat, state, input: { text }, say }) {
        state.public.said.push({ by: seat, text })
        state.public.speaker = seat === 'agent' ? 'user' : 'agent'
        return say('Said.')
      },
    }),
    look_up_line: tool({
      seats: ['agent'],
      description: 'See whether the line of the customer is active or suspended.',
      input: z.object({}),
      play({ state, reveal, say }) {
        const lineActive = reveal(state.private.lineActive, 'agent')
        state.own.agent.lineActive = lineActive
        return say(`The line is ${lineActive ? 'active' : 'suspended'}.`)
      },
    }),
    restore_line: tool({
      seats: ['agent'],
      description: 'Make a suspended line active.',
      input: z.object({}),
      play({ state, refuse, reveal, say }) {
        if (reveal(state.private.lineActive, 'agent')) return refuse('The line is not suspended.')
        state.private.lineActive = true
        state.own.agent.lineActive = true
        return say('The line is active again.')
      },
    }),
    close_case: tool({
      seats: ['agent'],
      description: 'End the conversation, when the phone of the customer works or nothing more can be done.',
      input: z.object({}),
      play({ end, say }) {
        end('closed')
        return say('The case is closed.')
      },
    }),
    switch_setting: tool({
      seats: ['user'],
      description: 'Turn a setting of your phone on or off.',
      input: z.object({ setting: Setting, on: z.boolean() }),
      play({ state, input: { setting, on }, say }) {
        const { phone } = state.own.user
        if (phone) phone[setting === 'airplane-mode' ? 'airplaneMode' : 'mobileData'] = on
        return say(`${setting} is ${onOff(on)}.`)
      },
    }),
    open_page: tool({
      seats: ['user'],
      description: 'Try to open a page on your phone, to see whether mobile data works.',
      input: z.object({}),
      play: ({ state, reveal, say }) =>
        say(reveal(works(state), 'user') ? 'The page opens.' : 'The page does not open.'),
    }),
  }),
  rewards: {
    solved: ({ end, after }) => (end?.kind === 'terminated' && works(after) ? 1 : 0),
    cost: ({ seat, moved }) => (moved.includes(seat) ? -0.01 : 0),
  },
  success: ({ state, end }) => end.kind === 'terminated' && works(state),
})

interface Phones {
  readonly own: { readonly user: { readonly phone?: z.infer<typeof phone> | undefined } }
  readonly private: { readonly lineActive: boolean }
}

function works({ own: { user }, private: { lineActive } }: Phones): boolean {
  return lineActive && user.phone?.mobileData === true && !user.phone.airplaneMode
}

function onOff(on: boolean): string {
  return on ? 'on' : 'off'
}
