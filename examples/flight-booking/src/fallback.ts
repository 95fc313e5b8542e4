import { type Frame, plainFallback } from '@episodic/contexts'
import { booking } from './booking.ts'
import { smallTalk } from './small-talk.ts'
import { support } from './support.ts'
import { MAX_PASSENGERS } from './trip.ts'
import { weather } from './weather.ts'

const plain = plainFallback([booking, weather, support, smallTalk])

/** The conversation's own replies: the default ones, and hints for an utterance that was not understood. */
export const fallback: typeof plain = (reason, about) =>
  reason.kind === 'not-understood' ? `I did not understand that.${hintFor(about.active)}` : plain(reason, about)

const CITIES = ' "Which airports are there?" tells the cities that I know.'

/** A hint for each state of a booking. */
const HINTS: Readonly<Record<string, string>> = {
  from: CITIES,
  to: CITIES,
  date: ' A day is for instance "Friday" or "8 January".',
  passengers: ` Up to ${MAX_PASSENGERS} can fly together.`,
  confirm: ' Say yes or no, or what I should change.',
}

function hintFor(active: Frame | null): string {
  if (!active) return ' I book flights, tell the weather, and know about baggage and refunds.'
  return (active.context === booking.name && HINTS[active.state]) || ''
}
