import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AIRPORTS } from './airports.ts'
import { conversation } from './conversation.ts'
import { startDialogue, textOf } from './dialogue.fixture.ts'
import { TODAY } from './goal.ts'
import { bookedTrip } from './judge.ts'
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

  it('understands a follow-up from the previous question', () => {
    const dialogue = startDialogue()
    for (const text of ['Book a flight from Lahore to Dubai', 'How is the weather in Dubai?']) dialogue.say(text)
    expect(textOf(dialogue.say('and the day after?'))).toMatch(/^Dubai on Tue 6 Jan 2026:/)
    expect(textOf(dialogue.say('and the day after?'))).toMatch(/^Dubai on Wed 7 Jan 2026:/)
    expect(textOf(dialogue.say('What about Doha?'))).toMatch(/^Doha on Wed 7 Jan 2026:/)
    expect(dialogue.booking.data).toMatchObject({ to: 'DXB', date: null })
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

  it('asks back in a digression, which can be left, resumed and cancelled', () => {
    const dialogue = startDialogue()
    dialogue.say('Book a flight to Paris')
    expect(textOf(dialogue.say('Can I get a refund?'))).toBe('Do you cancel yourself, or does the airline?')
    expect(dialogue.open).toEqual(['booking:from', 'support:cause'])
    expect(textOf(dialogue.say('back to my booking'))).toContain('Back to your booking, to Paris.')
    expect(dialogue.open).toEqual(['support:cause', 'booking:from'])
    dialogue.say('go back')
    expect(dialogue.open).toEqual(['booking:from', 'support:cause'])
    expect(textOf(dialogue.say('the airline'))).toContain('you get all of it back')
    dialogue.say('Can I get a refund?')
    dialogue.say('never mind')
    expect(dialogue.open).toEqual(['booking:from'])
  })

  it('understands typing errors, and reports what it does not understand', () => {
    const dialogue = startDialogue()
    dialogue.say('Book a filght from Lahroe to Istambul')
    expect(dialogue.booking.data).toMatchObject({ from: 'LHE', to: 'IST' })
    const before = dialogue.record.public.stack
    expect(textOf(dialogue.say('Colourless green ideas sleep furiously'))).toContain('did not understand')
    expect(dialogue.record.public.stack).toEqual(before)
  })

  it('rejects a trip to its own start, and a day in the past', () => {
    const dialogue = startDialogue()
    expect(textOf(dialogue.say('Book a flight from Rome to Rome'))).toContain('No flight goes from Rome to Rome.')
    expect(textOf(dialogue.say('From Paris on 2026-01-04'))).toContain('Sun 4 Jan 2026 is over.')
    expect(dialogue.booking).toMatchObject({ state: 'to', data: { from: 'CDG', to: null, date: null } })
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

  it('lists the flights that fit, and names the next day with a flight if there is none', () => {
    const dialogue = startDialogue()
    dialogue.say('Flight from New York to Istanbul')
    expect(textOf(dialogue.say('Which flights are there?'))).toContain(
      'once you have told me where, when and for how many',
    )
    dialogue.say('On 10 January')
    expect(textOf(dialogue.say('me and my wife'))).toBe(
      'There is no flight from New York to Istanbul on Sat 10 Jan 2026. The next one is on Sun 11 Jan 2026.\nOn which day?',
    )
    dialogue.say('the 11th')
    const flights = fittingFlights({ from: 'JFK', to: 'IST', date: '2026-01-11', passengers: 2, part: null })
    expect(flights.length).toBeGreaterThan(0)
    const listed = textOf(dialogue.say('What does it cost?'))
    for (const { number, price } of flights) expect(listed).toMatch(new RegExp(`${number} at .* \\$${2 * price}`))
  })

  it('offers another part of the day if no flight leaves in the requested one', () => {
    const dialogue = startDialogue()
    const wish = { from: 'CDG', to: 'LHR', date: '2026-01-20', passengers: 2 }
    expect(fittingFlights({ ...wish, part: 'evening' })).toEqual([])
    const [cheapest] = fittingFlights({ ...wish, part: null })
    const reply = textOf(dialogue.say('A flight from Paris to London on 20 January for 2 in the evening'))
    expect(reply).toMatch(/^There is no flight in the evening that day\.\nEP /)
    expect(dialogue.booking.data).toMatchObject({ part: null, offer: { flight: cheapest?.number } })
  })

  it('ends after goodbye, and handles the end of a month', () => {
    const dialogue = startDialogue()
    dialogue.say('Book me a flight from Lahore to Dubai at the end of May')
    dialogue.say("for two people, that's all")
    expect(dialogue.booking.data).toMatchObject({ date: '2026-05-31', passengers: 2 })
    expect(textOf(dialogue.say("That's all, thanks"))).toBe('Goodbye. We leave your booking unfinished.')
    expect(dialogue.record.public.ended).toBe('ended-by-user')
  })

  it('answers an utterance that it does not understand with a hint', () => {
    const dialogue = startDialogue()
    expect(textOf(dialogue.say('hmm'))).toContain('I book flights')
    dialogue.say('I need a flight')
    expect(textOf(dialogue.say('from Atlantis'))).toContain('"Which airports are there?"')
    expect(textOf(dialogue.say('Which airports are there?'))).toContain('Lahore (LHE)')
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

  it.each([
    ['sold-out', 'EP 475 has just been sold out.'],
    ['price-changed', 'The price of EP 475 has just changed to $474.'],
  ] as const)('meets with trouble once, where there is some: %s', (trouble, message) => {
    const dialogue = startDialogue(trouble)
    dialogue.say('Book a flight from Lahore to Dubai on 2026-01-06 for 2')
    expect(textOf(dialogue.say('yes'))).toContain(message)
    expect(bookedTrip(dialogue.record)).toBeNull()
    dialogue.say('yes')
    expect(bookedTrip(dialogue.record)).toMatchObject({ from: 'LHE', to: 'DXB', flight: 'EP 844' })
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
