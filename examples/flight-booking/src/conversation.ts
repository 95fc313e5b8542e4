import { defineConversation } from '@episodic/contexts'
import { booking } from './booking.ts'
import { fallback } from './fallback.ts'
import { interpreter } from './rules.ts'
import { smallTalk } from './small-talk.ts'
import { support } from './support.ts'
import { shared } from './trip.ts'
import { weather } from './weather.ts'

/** A booking that can be interrupted by questions on the weather, on baggage and refunds, and by small talk. */
export const conversation = defineConversation({
  name: 'flight-booking',
  contexts: [booking, weather, support, smallTalk],
  shared,
  interpreter,
  fallback,
  // Goals are judged by the closed contexts, so the bound is higher than an episode can reach.
  bounds: { closed: 128 },
})
