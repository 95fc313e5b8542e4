import { defineTasks } from '@episodic/dataset'
import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'

// A world written from the README and docs/write/environments.md alone.

const team = z.enum(['desk', 'billing', 'delivery', 'returns'])
type Team = z.infer<typeof team>

const CASES: readonly { readonly team: Team; readonly complaint: string; readonly detail: string }[] = [
  { team: 'billing', complaint: 'Something is wrong with my order.', detail: 'I was charged twice.' },
  { team: 'billing', complaint: 'I need help.', detail: 'The invoice has the wrong name.' },
  { team: 'delivery', complaint: 'Something is wrong with my order.', detail: 'The parcel never came.' },
  { team: 'delivery', complaint: 'I need help.', detail: 'The courier left it with a stranger.' },
  {
    team: 'returns',
    complaint: 'Something is wrong with my order.',
    detail: 'The lamp is broken, and I want to send it back.',
  },
  { team: 'returns', complaint: 'I need help.', detail: 'It does not fit.' },
  { team: 'desk', complaint: 'I need help.', detail: 'When do you open?' },
]

export const environment = defineEnvironment({
  name: 'help-desk',
  version: '1.0.0',
  description:
    'You work at the help desk of a shop. Find out what a customer needs, and hand the case to the right team.',
  params: z.object({}),
  state: {
    public: z.object({
      complaint: z.string(),
      asked: z.boolean(),
      status: z.enum(['open', 'closed']),
      notes: z.array(z.string()).max(10),
    }),
    private: z.object({ team, detail: z.string(), mood: z.enum(['note', 'calm', 'angry']), tolerance: z.int() }),
  },
  limits: { steps: 10 },
  start({ rng }) {
    const { complaint, ...hidden } = rng.pick(CASES)
    return {
      public: { complaint, asked: false, status: 'open' as const, notes: [] },
      private: { ...hidden, mood: rng.pick(['calm', 'angry'] as const), tolerance: 3 },
    }
  },
  observe: ({ complaint, asked, status }) =>
    status === 'closed'
      ? 'The case is closed.'
      : `The customer says: “${complaint}” ${asked ? 'You have asked for details.' : 'You know no details.'}`,
  tools: ({ tool }) => ({
    ask: tool({
      description: 'Ask the customer for details. An angry customer does not like to be asked twice.',
      input: z.object({}),
      output: z.object({ answer: z.string() }),
      play({ state, reveal, end, say, refuse }) {
        if (state.public.asked) {
          state.private.tolerance -= state.private.mood === 'angry' ? 3 : 1
          if (reveal(state.private.tolerance <= 0)) {
            end('hung up')
            return say('The customer hangs up.', { answer: '' })
          }
          return refuse('The customer has answered that already.')
        }
        state.public.asked = true
        const answer = reveal(state.private.detail)
        return say(`“${answer}”`, { answer })
      },
    }),
    note: tool({
      description: 'Write a note about the case, for the next agent.',
      input: z.object({ text: z.string().max(200).describe('The note.') }),
      play({ state, input, refuse, say }) {
        if (state.public.notes.length >= 10) return refuse('There is no room for another note.')
        state.public.notes.push(input.text)
        return say('Noted.')
      },
    }),
    assign: tool({
      description: 'Hand the case to a team and close it.',
      input: z.object({ team: team.describe('Who takes the case.') }),
      play({ state, input, reveal, end, say }) {
        const right = reveal(input.team === state.private.team)
        state.public.status = 'closed'
        end(right ? 'solved' : 'misrouted')
        return say(right ? 'They can help.' : 'They cannot help.')
      },
    }),
  }),
  rewards: {
    outcome: ({ end }) => (end?.reason === 'solved' ? 1 : end?.kind === 'terminated' ? -0.5 : 0),
    time: () => -0.02,
  },
})

export const tasks = defineTasks({
  name: 'help-desk',
  environment,
  generate: ({ difficulty }) => ({ prompt: 'Route the case to the right team.', params: {}, difficulty }),
})

export const solver = definePolicy({
  name: 'clerk',
  start:
    () =>
    (observation, { last }) => {
      if (last === null) return { tool: 'ask', arguments: {} }
      const answer = String(observation.structured?.answer)
      const found = CASES.find(({ detail }) => detail === answer)
      // Always found: the answer to ask is the detail of a case.
      return { tool: 'assign', arguments: { team: (found as (typeof CASES)[number]).team } }
    },
})
