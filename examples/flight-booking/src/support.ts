import { defineContext } from '@episodic/contexts'
import { z } from 'zod'
import { CABINS, type Cabin } from './timetable.ts'
import { Details, shared } from './trip.ts'

const CAUSES = ['traveller', 'airline'] as const
type Cause = (typeof CAUSES)[number]

const BAGGAGE: Readonly<Record<Cabin, string>> = {
  economy: 'In economy you take one bag of 23 kg and 7 kg in the cabin.',
  business: 'In business you take two bags of 32 kg each and 12 kg in the cabin.',
}

const REFUNDS: Readonly<Record<Cause, string>> = {
  traveller: 'If you cancel, you get your money back until 24 hours before departure, less $40.',
  airline: 'If we cancel, you get all of it back within seven days, or another flight.',
}

const Question = z
  .object({
    cabin: z.enum(CABINS).describe('default: that of the trip'),
    cause: z.enum(CAUSES).describe('who cancels'),
  })
  .partial()

const Inquiry = z.object({
  topic: z.enum(['baggage', 'refund']).nullable().default(null),
  cabin: z.enum(CABINS).nullable().default(null),
  cause: z.enum(CAUSES).nullable().default(null),
})

/** Answers questions on baggage and refunds, and asks back for the cabin or the cause. */
export const support = defineContext({
  name: 'support',
  description: 'your question on baggage or refunds',
  data: Inquiry,
  shared,
  intents: {
    'ask-baggage': Question.describe('ask how much baggage is allowed'),
    'ask-refund': Question.describe('ask for money back'),
    'say-cause': Question.describe('say who cancels the flight'),
    'give-details': Details.describe('say or correct where, when or for how many'),
  },
  initial: 'looking',
  opens: {
    'ask-baggage': {
      effect({ data, slots, shared: { public: trip } }) {
        data.topic = 'baggage'
        data.cabin = slots.cabin ?? trip.cabin
      },
    },
    'ask-refund': {
      effect({ data, slots }) {
        data.topic = 'refund'
        data.cause = slots.cause ?? null
      },
    },
  },
  states: {
    looking: {
      always: [{ guard: lacksCabin, target: 'cabin' }, { guard: lacksCause, target: 'cause' }, { target: 'answered' }],
    },
    cabin: {
      prompt: () => 'In economy or in business?',
      on: {
        'give-details': {
          guard: namesCabin,
          target: 'looking',
          effect({ data, slots }) {
            data.cabin = slots.cabin ?? null
          },
        },
      },
    },
    cause: {
      prompt: () => 'Do you cancel yourself, or does the airline?',
      on: {
        'say-cause': {
          guard: namesCause,
          target: 'looking',
          effect({ data, slots }) {
            data.cause = slots.cause ?? null
          },
        },
      },
    },
    answered: {
      final: true,
      entry({ data: { topic, cabin, cause }, say }) {
        if (topic === 'baggage' && cabin) say(BAGGAGE[cabin])
        if (topic === 'refund' && cause) say(REFUNDS[cause])
      },
    },
  },
  result: ({ data: { topic } }) => ({ topic }),
})

function lacksCabin({ data }: { readonly data: z.infer<typeof Inquiry> }): boolean {
  return data.topic === 'baggage' && data.cabin === null
}

function lacksCause({ data }: { readonly data: z.infer<typeof Inquiry> }): boolean {
  return data.topic === 'refund' && data.cause === null
}

function namesCabin({ slots }: { readonly slots: z.infer<typeof Details> }): boolean {
  // With a route it describes a trip, and does not answer this question.
  return slots.cabin !== undefined && slots.from === undefined && slots.to === undefined
}

function namesCause({ slots }: { readonly slots: z.infer<typeof Question> }): boolean {
  return slots.cause !== undefined
}
