import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AIRPORTS } from './airports.ts'
import { conversation } from './conversation.ts'
import { startDialogue, textOf } from './dialogue.fixture.ts'
import { TODAY } from './goal.ts'
import { fittingFlights } from './timetable.ts'

describe('the conversation', () => {
  it('returns from a digression to the weather to an unchanged booking', () => {
    const dialogue = startDialogue()
    expect(textOf(dialogue.say('I want to book a flight'))).toBe('Where do you want to fly from?')
    expect(textOf(dialogue.say('From Lahore to Dubai'))).toBe('On which day?')
    const before = dialogue.booking
    const answer = dialogue.say("What's the weather in Dubai?")
    expect(textOf(answer)).toMatch(
      /^Dubai on Mon 5 Jan 2026: .*°C\.\nBack to your booking, Lahore to Dubai\.\nOn which day\?$/,
    )
    expect(answer.transitions.map(({ kind, context }) => `${context} ${kind}`)).toEqual([
      'booking suspended',
      'weather opened',
      'weather moved',
      'weather finished',
      'booking resumed',
    ])
    expect(dialogue.booking).toEqual(before)
    expect(dialogue.booking.data).toMatchObject({ from: 'LHE', to: 'DXB' })
  })

  it('accepts corrections at any time', () => {
    const dialogue = startDialogue()
    dialogue.say('Book a flight from Lahore to Dubai on 2026-01-06 for 2 people')
    expect(textOf(dialogue.say('no, to Doha'))).toContain('Lahore to Doha')
    expect(textOf(dialogue.say('Sorry, I meant from Karachi'))).toContain('Karachi to Doha')
    expect(textOf(dialogue.say('actually make it three people in business'))).toContain('3 passengers in business')
    expect(dialogue.booking).toMatchObject({
      state: 'confirm',
      data: { from: 'KHI', to: 'DOH', passengers: 3, cabin: 'business' },
    })
  })

  it('offers the flights that fit, the cheapest first, and asks for another day when all are declined', () => {
    const dialogue = startDialogue()
    dialogue.say('Book a flight from Lahore to Dubai on 2026-01-06 for 2')
    const flights = fittingFlights({ from: 'LHE', to: 'DXB', date: '2026-01-06', passengers: 2, part: null })
    for (const { number } of flights) {
      expect(dialogue.booking.data.offer?.flight).toBe(number)
      dialogue.say('No')
    }
    expect(dialogue.booking).toMatchObject({ state: 'date', data: { date: null, declined: [] } })
  })

  it('applies changes of prices and seats while the booking is suspended', () => {
    const dialogue = startDialogue()
    dialogue.say('Book a flight from Lahore to Dubai on 2026-01-06 for 2')
    dialogue.say('Can I get a refund?')
    const { flight = '' } = dialogue.booking.data.offer ?? {}
    const options = { to: { topic: `flight:${flight}` }, now: TODAY }
    const dearer = dialogue.take(conversation.event('price-changed', { flight, seat: 190 }, { id: 'e1', ...options }))
    expect(textOf(dearer)).toContain(`The price of ${flight} is now $380.`)
    expect(dialogue.booking.data.offer?.price).toBe(380)
    expect(dialogue.open).toEqual(['booking:confirm', 'support:cause'])
    const again = conversation.event('price-changed', { flight, seat: 1 }, { id: 'e1', ...options })
    expect(dialogue.take(again).duplicate).toBe(true)
    dialogue.say('Actually, for 3 people')
    expect(dialogue.booking.data.offer).toMatchObject({ flight, price: 570 })
    dialogue.take(conversation.event('sold-out', { flight }, { id: 'e2', ...options }))
    expect(dialogue.booking.data.offer?.flight).not.toBe(flight)
    dialogue.say('No, for 2 people')
    expect(dialogue.booking.data.offer?.flight).not.toBe(flight)
  })

  it('books every trip, in any words and order, with any questions in between', () => {
    const code = fc.constantFrom(...AIRPORTS)
    const digression = fc.constantFrom(
      'What is the weather in Oslo?',
      'Tell me a joke',
      'How much luggage can I take?',
      '',
    )
    fc.assert(
      fc.property(
        fc.uniqueArray(code, { minLength: 2, maxLength: 2, selector: (airport) => airport.code }),
        fc.integer({ min: 1, max: 9 }),
        fc.shuffledSubarray(['from', 'to', 'passengers'], { minLength: 3 }),
        fc.array(digression, { minLength: 3, maxLength: 3 }),
        ([from, to], passengers, order, digressions) => {
          const dialogue = startDialogue()
          dialogue.say('Hi, I need a flight')
          const words: Record<string, string> = {
            from: `from ${from?.city}`,
            to: `to ${to?.city}`,
            passengers: `for ${passengers} passengers`,
          }
          for (const [i, what] of order.entries()) {
            dialogue.say(words[what] as string)
            if (digressions[i]) dialogue.say(digressions[i])
          }
          expect(dialogue.booking.data).toMatchObject({ from: from?.code, to: to?.code, passengers })
        },
      ),
      { seed: 11, numRuns: 200 },
    )
  })
})
