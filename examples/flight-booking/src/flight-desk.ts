import { conversationEnvironment } from '@episodic/contexts'
import { z } from 'zod'
import { conversation } from './conversation.ts'
import { DIGRESSIONS, drawGoal, formatGoal, MAX_CONSTRAINTS, TODAY } from './goal.ts'
import { accuracy, digressions, inVain, isReached } from './judge.ts'
import { Traveller, traveller } from './traveller.ts'
import { TROUBLES } from './trip.ts'

const Params = z.object({
  /** The numbers of the traveller's questions and constraints. */
  digressions: z.int().min(0).max(DIGRESSIONS.length).default(1),
  constraints: z.int().min(0).max(MAX_CONSTRAINTS).default(0),
  /** How many slots the traveller says wrong at first, and then corrects. */
  slips: z.int().min(0).max(3).default(1),
  /** Whether the traveller mistypes. */
  typos: z.boolean().default(false),
  /** How many turns without progress the traveller accepts. */
  patience: z.int().min(1).max(10).default(6),
  /** What happens at the first payment. */
  trouble: z.enum(TROUBLES).default('none'),
})

/** The agent plays the assistant of a traveller who digresses, makes mistakes and loses patience. */
export const environment = conversationEnvironment(conversation, {
  name: 'flight-desk',
  version: '1.2.0',
  description: 'Find out what a traveller wants, book it, and answer what they ask on the way.',
  params: Params,
  limits: ({ digressions: questions, slips }) => ({ steps: 40 + 8 * (questions + slips) }),
  start: ({ params: { trouble } }) => ({
    now: TODAY,
    shared: { public: { from: null, to: null, date: null, cabin: null }, private: { trouble } },
  }),
  goal: {
    schema: Traveller,
    draw: ({ params: { slips, typos, patience, ...demands }, rng }) => ({
      ...drawGoal(rng, demands),
      slips,
      typos,
      patience,
    }),
    describe: formatGoal,
    reached: isReached,
    accuracy,
    digressions,
  },
  user: traveller,
  rewards: { inVain },
})
