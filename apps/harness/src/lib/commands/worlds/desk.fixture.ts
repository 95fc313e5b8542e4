import { defineEnvironment, defineGame } from '@episodic/mcp-server'
import { z } from 'zod'

const Words = z.object({ text: z.string().max(1_000) })
const WORDS = ['My phone is dead.', 'It is 42.', 'Thanks. ###STOP###']

/** A desk whose customer has three things to say. */
export const desk = defineEnvironment({
  name: 'desk',
  version: '1.0.0',
  description: 'Help the customer.',
  state: { public: z.object({ steps: z.int() }), private: z.object({ said: z.array(z.string()) }) },
  start: () => ({ public: { steps: 0 }, private: { said: [] } }),
  observe: ({ steps }) => (steps === 0 ? (WORDS[0] as string) : ''),
  speech: 'say',
  tools: ({ tool }) => ({
    say: tool({
      description: 'Says something to the customer.',
      input: z.object({ text: z.string().min(1).max(1_000) }),
      play({ state, input, reveal, end, say }) {
        state.private.said.push(input.text)
        const words = reveal(WORDS[state.private.said.length] as string)
        state.public.steps += 1
        if (words.includes('###STOP###')) end('stopped')
        return say(words)
      },
    }),
    look_up: tool({
      description: 'Looks a number up.',
      input: z.object({ number: z.int() }),
      play({ state, input, say }) {
        state.public.steps += 1
        return say(`${input.number} is known.`)
      },
    }),
  }),
  rewards: { said: ({ tool, input, refused }) => (tool === 'say' && refused === null ? input.text.length : 0) },
  success: ({ end }) => end.reason === 'stopped',
})

const Speaker = z.enum(['agent', 'user'])

/** Two who speak to each other, each with a tool of its own. Tools keep the turn. */
export const call = defineGame({
  name: 'call',
  version: '1.0.0',
  description: 'An agent and a user speak.',
  seats: ['agent', 'user'],
  parallelToolCalls: true,
  greetings: { agent: 'Hi! How can I help you today?' },
  state: {
    public: z.object({ speaker: Speaker }),
    own: z.object({ shown: z.string() }),
    private: z.object({}),
  },
  start: () => ({
    public: { speaker: 'user' as const },
    own: { agent: { shown: '' }, user: { shown: 'Hi! How can I help you today?' } },
    private: {},
  }),
  turn: ({ speaker }) => speaker,
  observe: ({ own }) => own.shown,
  speech: 'say',
  tools: ({ tool }) => ({
    say: tool({
      description: 'Says something to the other one.',
      input: Words,
      play({ seat, state, input: { text }, reveal, end, say }) {
        const other = seat === 'agent' ? 'user' : 'agent'
        state.public.speaker = other
        state.own[seat].shown = ''
        state.own[other].shown = reveal(text)
        if (seat === 'user' && text.includes('###STOP###')) end('user-stop')
        return say('')
      },
    }),
    look_up: tool({
      seats: ['agent'],
      description: 'Looks a number up.',
      input: z.object({ number: z.int() }),
      play({ state, input, say }) {
        state.own.agent.shown = ''
        return say(`${input.number} is known.`)
      },
    }),
    toggle: tool({
      seats: ['user'],
      description: 'Switches the phone on or off.',
      input: z.object({}),
      play({ state, say }) {
        state.own.user.shown = ''
        return say('Toggled.')
      },
    }),
  }),
  rewards: { stopped: ({ end }) => (end?.reason === 'user-stop' ? 1 : 0) },
})
