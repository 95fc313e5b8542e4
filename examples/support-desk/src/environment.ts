import { defineEnvironment } from '@episodic/mcp-server'
import { z } from 'zod'
import { answerAgent, customerSchema, startCustomer } from './customer.ts'
import { type Desk, deskState, isAsWanted, noteSaid, progressOf, shopTools, startDesk } from './desk.ts'
import { SHOP } from './generated-shop.ts'
import { drawCase } from './requests.ts'
import { shopToolNamed } from './shop-tools.ts'

/** The customer service of a shop: a database, a policy, and a customer with requests. */
export const environment = defineEnvironment({
  name: 'support-desk',
  version: '1.1.0',
  description: 'Serve a customer of a shop: speak with them, read and change the database, and follow the policy.',
  handle: 'case',
  params: z.object({
    /** How many requests the customer has. */
    requests: z.int().min(1).max(3).default(1),
    /** Whether the customer knows their e-mail address and the ids of their orders. */
    remembers: z.boolean().default(true),
  }),
  limits: { steps: 60 },
  state: {
    public: z.object({
      said: z.string().max(2_000).describe('What the customer said last; empty before the first word.'),
      closed: z.boolean().describe('Whether the case is closed.'),
    }),
    private: z.object({ ...deskState, customer: customerSchema, transfer: z.boolean() }),
  },
  start({ params, rng }) {
    const drawn = drawCase(SHOP, rng, params.requests, params.remembers)
    return {
      public: { said: '', closed: false },
      private: {
        ...startDesk(SHOP, drawn.solution, drawn.facts),
        customer: startCustomer(drawn),
        transfer: drawn.transfer,
      },
    }
  },
  observe: ({ said }) => (said === '' ? 'A customer is here. Greet them with `say`.' : `The customer: ${said}`),
  tools: ({ tool }) => ({
    say: tool({
      description: 'Say something to the customer, who answers.',
      input: z.object({ text: z.string().min(1).max(1_000).describe('What you say.') }),
      play({ state, input: { text }, reveal, say }) {
        noteSaid(state.private, text)
        state.public.said = reveal(answerAgent(state.private.customer, text, state.private.changed.count))
        return say('Said.')
      },
    }),
    think: tool({
      description: 'Write a thought down. Nobody reads it, and nothing changes.',
      input: z.object({ thought: z.string().max(4_000).describe('The thought.') }),
      annotations: { readOnlyHint: true },
      play: ({ say }) => say('Noted.'),
    }),
    ...shopTools(tool),
    close_case: tool({
      description: 'End the conversation, when the customer needs nothing else or is transferred.',
      input: z.object({}),
      play({ state, end, say }) {
        state.public.closed = true
        end(isServed(state.private) ? 'served' : 'unserved')
        return say('The case is closed.')
      },
    }),
  }),
  rewards: {
    served: ({ end }) => (end?.reason === 'served' ? 1 : 0),
    // A change that the customer has not agreed to since the one before.
    unasked: ({ tool, refused, before: { private: desk } }) =>
      refused === null && shopToolNamed(tool)?.changes && desk.customer.agreedAt !== desk.changed.count ? -0.1 : 0,
    cost: () => -0.01,
  },
  // Φ, from 0 to ½: half the share of rows that are right and of facts that were said, less the rows that are wrong.
  potential({ private: desk }) {
    const { rows, right, wrong, facts, said } = progressOf(desk, SHOP)
    return rows + facts === 0 ? 0 : Math.max(0, right - wrong + said) / (2 * (rows + facts))
  },
  success: ({ end }) => end.reason === 'served',
})

/** Whether the database is as it is to be, and the customer was informed, and transferred if that was to be. */
function isServed(desk: Desk & { readonly transfer: boolean }): boolean {
  const progress = progressOf(desk, SHOP)
  return isAsWanted(progress) && progress.said === progress.facts && desk.transferred === desk.transfer
}
