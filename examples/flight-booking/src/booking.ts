import { defineContext } from '@episodic/contexts'
import { z } from 'zod'
import { cityOf, unknownCity } from './airports.ts'
import { BUSINESS, CABINS, type Flight, fittingFlights, PARTS_OF_DAY } from './timetable.ts'
import {
  Code,
  Day,
  type Details,
  Details as DetailsSchema,
  dayOf,
  daysAfter,
  MAX_PASSENGERS,
  readDay,
  readRoute,
  shared,
} from './trip.ts'

/** How many flights a traveller can decline before another day is asked for. */
const MAX_DECLINED = 8
/** How many changes of prices and seats a booking remembers. */
const MAX_NEWS = 8

/** How many days ahead to look for another flight. */
const DAYS_AHEAD = 14

/** The factor of a price change. */
const RISE = 1.25

const Offer = z.object({
  flight: z.string().max(8),
  departs: z.string().max(5),
  /** In whole dollars: one seat in economy, and all passengers in the requested cabin. */
  seat: z.int().min(0),
  price: z.int().min(0),
})
type Offer = z.infer<typeof Offer>

const Booking = z.object({
  from: Code.nullable().default(null),
  to: Code.nullable().default(null),
  date: Day.nullable().default(null),
  passengers: z.int().min(1).max(MAX_PASSENGERS).nullable().default(null),
  cabin: z.enum(CABINS).default('economy'),
  /** When it may leave; `null` for any time. */
  part: z.enum(PARTS_OF_DAY).nullable().default(null),
  offer: Offer.nullable().default(null),
  /** Flights of this trip that were declined. */
  declined: z.array(z.string().max(8)).max(MAX_DECLINED).default([]),
  /** Changes to the timetable: the price of one seat in economy, `null` for a flight that is sold out. */
  news: z
    .array(z.object({ flight: z.string().max(8), date: Day, seat: z.int().min(0).nullable() }))
    .max(MAX_NEWS)
    .default([]),
})
type Booking = z.infer<typeof Booking>

/** A flight that is booked and paid. */
export type Trip = Pick<Complete, 'from' | 'to' | 'date' | 'passengers' | 'cabin' | 'part'> & {
  readonly flight: string
  /** In whole dollars, for all passengers. */
  readonly price: number
}

/**
 * Books a flight: asks for missing slots, offers the cheapest flight that fits, and accepts corrections at any time.
 */
export const booking = defineContext({
  name: 'booking',
  description: 'your booking',
  data: Booking,
  shared,
  intents: {
    'book-flight': DetailsSchema.describe('book a flight'),
    'give-details': DetailsSchema.describe('say or correct where, when or for how many'),
    'ask-flights': z.object({}).describe('hear which flights there are and what they cost'),
    confirm: z.object({}).describe('agree'),
    decline: z.object({}).describe('turn it down'),
  },
  events: {
    'price-changed': z
      .object({
        flight: z.string().max(8),
        seat: z.int().min(0).describe('the price of one seat in economy, in dollars'),
      })
      .describe('the price of a flight has changed'),
    'sold-out': z.object({ flight: z.string().max(8) }).describe('a flight has no seats left'),
  },
  initial: 'checking',
  opens: {
    'book-flight': { effect: (context) => fill(context) },
    'give-details': { guard: namesRoute, effect: (context) => fill(context) },
  },
  on: {
    'book-flight': { target: 'checking', effect: (context) => fill(context) },
    'give-details': { target: 'checking', effect: (context) => fill(context) },
    'ask-flights': {
      effect({ data, say }) {
        say(
          data.offer
            ? listFlights(data as Complete)
            : 'That I know once you have told me where, when and for how many.',
        )
      },
    },
  },
  states: {
    checking: {
      entry({ data, shared: { public: trip } }) {
        Object.assign(trip, { from: data.from, to: data.to, date: data.date, cabin: data.cabin })
        data.offer = findOffer(data)
      },
      always: [
        { guard: lacksFrom, target: 'from' },
        { guard: lacksTo, target: 'to' },
        { guard: lacksDate, target: 'date' },
        { guard: lacksPassengers, target: 'passengers' },
        { guard: hasOffer, target: 'confirm' },
        {
          guard: fitsAtAnotherTime,
          target: 'checking',
          effect({ data, say }) {
            say(`There is no flight in the ${data.part} that day.`)
            data.part = null
          },
        },
        {
          target: 'date',
          effect({ data, say }) {
            const { from, to, date, part } = data as Complete
            const which = data.declined.length > 0 ? 'other flight' : 'flight'
            say(
              `There is no ${which} from ${cityOf(from)} to ${cityOf(to)} on ${readDay(date)}${part ? ` in the ${part}` : ''}.${readNextDay(data)}`,
            )
            data.date = null
            data.declined = []
          },
        },
      ],
    },
    from: { prompt: () => 'Where do you want to fly from?' },
    to: { prompt: () => 'Where do you want to fly to?' },
    date: { prompt: () => 'On which day?' },
    passengers: { prompt: () => 'For how many passengers?' },
    confirm: {
      prompt: ({ data }) => `${formatOffer(data as Complete)} Shall I book it?`,
      on: {
        confirm: [
          {
            guard: isTroubleAhead,
            target: 'checking',
            effect({ data, shared: { private: ahead }, reveal, say }) {
              const { flight, seat } = data.offer as Offer
              const dearer = reveal(ahead.trouble) === 'price-changed' ? Math.ceil(seat * RISE) : null
              hear(data, flight, dearer)
              ahead.trouble = 'none'
              say(
                dearer === null
                  ? `${flight} has just been sold out.`
                  : `The price of ${flight} has just changed to $${priceOf(dearer, data as Complete)}.`,
              )
            },
          },
          { target: 'paid' },
        ],
        'price-changed': {
          guard: isOffered,
          effect({ data, event, say }) {
            const price = priceOf(event.seat, data as Complete)
            hear(data, event.flight, event.seat)
            data.offer = { ...(data.offer as Offer), seat: event.seat, price }
            say(`The price of ${event.flight} is now $${price}.`)
          },
        },
        'sold-out': {
          guard: isOffered,
          target: 'checking',
          effect({ data, event, say }) {
            hear(data, event.flight, null)
            say(`${event.flight} is sold out.`)
          },
        },
        decline: {
          target: 'checking',
          effect({ data }) {
            if (data.offer) turnDown(data, data.offer.flight)
          },
        },
      },
    },
    paid: {
      final: true,
      entry: ({ data, say }) => say(`Booked and paid: ${formatOffer(data as Complete)} Have a good flight.`),
    },
  },
  unrecognised({ data, slot, text, state, say }) {
    if (slot === 'passengers') {
      data.passengers = null
      say(`I cannot book ${text} seats: 1 to ${MAX_PASSENGERS} can fly together.`)
      return
    }
    // The earlier value is not wanted any more, so the slot is asked for again.
    if (slot === 'from' || (slot === 'place' && state === 'from')) data.from = null
    else if (slot === 'to' || slot === 'place') data.to = null
    say(unknownCity(text))
  },
  topics: ({ offer }) => (offer ? [`flight:${offer.flight}`] : []),
  resume: ({ data, say }) => say(`Back to your booking, ${readRoute(data.from, data.to)}.`),
  result({ data }): Trip {
    const { from, to, date, passengers, cabin, part, offer } = data as Complete
    return { from, to, date, passengers, cabin, part, flight: offer.flight, price: offer.price }
  },
})

// Named functions, because diagrams label the transitions with them.
function lacksFrom({ data }: Seen): boolean {
  return data.from === null
}

function lacksTo({ data }: Seen): boolean {
  return data.to === null
}

function lacksDate({ data }: Seen): boolean {
  return data.date === null
}

function lacksPassengers({ data }: Seen): boolean {
  return data.passengers === null
}

function hasOffer({ data }: Seen): boolean {
  return data.offer !== null
}

function fitsAtAnotherTime({ data }: Seen): boolean {
  return data.part !== null && findOffer({ ...data, part: null }) !== null
}

/** Whether a city is named as the start or destination, which opens a booking. */
function namesRoute({ slots: { from, to } }: { readonly slots: Details }): boolean {
  return from !== undefined || to !== undefined
}

function isOffered({ data, event }: Seen & { readonly event: { readonly flight: string } }): boolean {
  return data.offer?.flight === event.flight
}

function isTroubleAhead({
  shared: { private: ahead },
}: {
  readonly shared: { readonly private: { readonly trouble: string } }
}): boolean {
  return ahead.trouble !== 'none'
}

interface Seen {
  readonly data: Readonly<Booking>
}

/** A complete booking. */
type Complete = { [Field in keyof Booking]: Field extends 'part' ? Booking[Field] : NonNullable<Booking[Field]> }

/** Fills the slots of a booking. */
function fill({
  data,
  slots,
  state,
  now,
  say,
}: {
  readonly data: Booking
  readonly slots: Details
  readonly state: string
  readonly now: number
  say(text: string): void
}): void {
  const { place, from = state === 'from' ? place : undefined, date } = slots
  const { to = state === 'from' ? undefined : place } = slots
  if (from !== undefined) data.from = from
  if (to !== undefined) data.to = to
  if (data.from !== null && data.from === data.to) {
    say(`No flight goes from ${cityOf(data.from)} to ${cityOf(data.from)}.`)
    // The last value said is kept.
    if (from !== undefined) data.to = null
    else data.from = null
  }
  if (date !== undefined && date < dayOf(now)) say(`${readDay(date)} is over.`)
  else if (date !== undefined) data.date = date
  data.passengers = slots.passengers ?? data.passengers
  data.cabin = slots.cabin ?? data.cabin
  data.part = slots.part ?? data.part
  data.declined = []
}

function turnDown(data: Booking, flight: string): void {
  data.declined = [...data.declined, flight].slice(-MAX_DECLINED)
}

/** Records a change of the offered flight: the price of a seat, or `null` if it is sold out. */
function hear(data: Booking, flight: string, seat: number | null): void {
  if (data.date) data.news = [...data.news, { flight, date: data.date, seat }].slice(-MAX_NEWS)
}

function findOffer(data: Booking): Offer | null {
  const [cheapest] = flightsFor(data)
  if (!cheapest) return null
  const { number, departs, price } = cheapest
  return { flight: number, departs, seat: price, price: priceOf(price, data as Complete) }
}

/** Returns the flights to offer at their present prices, the cheapest first; none while the trip is incomplete. */
function flightsFor({ from, to, date, passengers, part, declined, news }: Booking): readonly Flight[] {
  if (from === null || to === null || date === null || passengers === null) return []
  return fittingFlights({ from, to, date, passengers, part })
    .filter(({ number }) => !declined.includes(number))
    .flatMap((flight) => {
      const latest = news.findLast((one) => one.flight === flight.number && one.date === date)
      const price = latest ? latest.seat : flight.price
      return price === null ? [] : [{ ...flight, price }]
    })
    .toSorted((a, b) => a.price - b.price)
}

/** Returns the price for all passengers, in whole dollars, from the price of one seat in economy. */
export function priceOf(seat: number, { passengers, cabin }: Pick<Complete, 'passengers' | 'cabin'>): number {
  return seat * passengers * (cabin === 'business' ? BUSINESS : 1)
}

function formatOffer({ from, to, date, passengers, cabin, offer }: Complete): string {
  const people = passengers === 1 ? '1 passenger' : `${passengers} passengers`
  return `${offer.flight}, ${cityOf(from)} to ${cityOf(to)}, ${readDay(date)} at ${offer.departs}, ${people} in ${cabin}, $${offer.price}.`
}

/** Names the next day with a flight, if there is one soon. */
function readNextDay(data: Booking): string {
  const { date } = data
  if (date === null) return ''
  const days = Array.from({ length: DAYS_AHEAD }, (_, i) => daysAfter(date, i + 1))
  const next = days.find((day) => findOffer({ ...data, date: day, declined: [] }) !== null)
  return next ? ` The next one is on ${readDay(next)}.` : ''
}

function listFlights(data: Complete): string {
  const flights = flightsFor(data).map(
    ({ number, departs, minutes, price }) =>
      `${number} at ${departs}, ${Math.floor(minutes / 60)} h ${minutes % 60} min, $${priceOf(price, data)}`,
  )
  return `The cheapest first: ${flights.join('; ')}.`
}
