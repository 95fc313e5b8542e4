import { defineContext } from '@episodic/contexts'
import { z } from 'zod'
import { cityOf, unknownCity } from './airports.ts'
import { forecast } from './forecast.ts'
import { Code, Day, Details, dayOf, readDay, shared } from './trip.ts'

/** Answers with the weather of a city on a day. Default: the destination of the trip, on its day. */
export const weather = defineContext({
  name: 'weather',
  description: 'the weather',
  data: z.object({ city: Code.nullable().default(null), date: Day.nullable().default(null) }),
  shared,
  intents: {
    'ask-weather': z
      .object({
        city: Code.describe('default: where the trip goes'),
        date: Day.describe('default: the day of the trip'),
      })
      .partial()
      .describe('ask for the weather'),
    'give-details': Details.describe('say or correct where, when or for how many'),
  },
  unrecognised({ data, text, say }) {
    data.city = null
    say(unknownCity(text))
  },
  initial: 'looking',
  opens: {
    'ask-weather': {
      effect({ data, slots, unrecognised, shared: { public: trip }, now }) {
        data.city = slots.city ?? (unrecognised.length === 0 ? trip.to : null)
        data.date = slots.date ?? trip.date ?? dayOf(now)
      },
    },
  },
  states: {
    looking: {
      always: [
        {
          guard: knowsCity,
          target: 'told',
        },
      ],
      prompt: () => 'For which city?',
      on: {
        'ask-weather': {
          target: 'looking',
          effect({ data, slots }) {
            data.city = slots.city ?? data.city
            data.date = slots.date ?? data.date
          },
        },
        'give-details': {
          guard: namesCity,
          target: 'looking',
          effect({ data, slots: { place, to, from, date } }) {
            data.city = place ?? to ?? from ?? null
            data.date = date ?? data.date
          },
        },
      },
    },
    told: {
      final: true,
      entry({ data: { city, date }, say }) {
        if (city && date) say(`${cityOf(city)} on ${readDay(date)}: ${forecast(city, date)}.`)
      },
    },
  },
  result: ({ data: { city, date } }) => ({ city, date }),
})

function knowsCity({ data }: { readonly data: { readonly city: string | null } }): boolean {
  return data.city !== null
}

function namesCity({ slots: { place, to, from } }: { readonly slots: z.infer<typeof Details> }): boolean {
  return (place ?? to ?? from) !== undefined
}
