import { conversationEnvironment } from '@episodic/contexts'
import { z } from 'zod'
import { conversation } from './conversation.ts'
import { formatGoal, Goal, TODAY } from './goal.ts'
import { accuracy, digressions, inVain, isReached } from './judge.ts'
import { TROUBLES } from './trip.ts'

/** The step limit: for each question of the goal, and for the booking. */
const STEPS = { question: 4, booking: 16 }

const Params = z.object({
  /** The traveller's goal; `null` for a conversation without one. */
  goal: Goal.nullable().default({
    from: 'LHE',
    to: 'DXB',
    date: '2026-01-08',
    passengers: 1,
    cabin: 'economy',
    part: null,
    budget: null,
    digressions: ['weather'],
  }),
  /** What happens at the first payment. */
  trouble: z.enum(TROUBLES).default('none'),
})

/** The environment in which the agent plays the traveller. */
export const environment = conversationEnvironment(conversation, {
  version: '1.2.0',
  description: 'Book a flight in a conversation, ask what you want to know on the way, and get back to the booking.',
  params: Params,
  limits: ({ goal }) => (goal ? { steps: STEPS.booking + STEPS.question * goal.digressions.length } : {}),
  person: { goal: null },
  start: ({ params: { trouble } }) => ({
    now: TODAY,
    shared: { public: { from: null, to: null, date: null, cabin: null }, private: { trouble } },
  }),
  goal: {
    schema: Goal,
    draw: ({ params }) => params.goal,
    describe: formatGoal,
    reached: isReached,
    accuracy,
    digressions,
  },
  rewards: { inVain },
})
