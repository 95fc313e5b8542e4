import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineContext, defineConversation } from '../../index.ts'
import { createRulesInterpreter, oneOf, wholeNumber } from '../../interpret.ts'
import { MONDAY, requestOf } from '../fixtures/request.fixture.ts'
import type { Interpretation } from './interpreter.ts'

const city = oneOf({ LHE: ['Lahore'], DXB: ['Dubai'] })
const slots = {
  to: { entity: city, after: ['to', 'for'], reports: { after: ['to'] } },
  from: { entity: city, after: ['from'] },
  seats: { entity: wholeNumber({ least: 1, most: 9 }), reports: { before: ['people'] } },
}
const interpreter = createRulesInterpreter({
  book: { phrases: ['(book|need) (a)? flight', 'fly'], slots },
  correct: { beside: ['no', 'actually'], slots },
  decline: { phrases: ['no'] },
  weather: { phrases: ['weather'], slots: { city: { entity: city, reports: { after: ['in'] } } } },
})

const best = (text: string, given: Parameters<typeof requestOf>[1] = {}) => {
  const { intent, slots, unrecognised } =
    (interpreter.interpret(requestOf(text, given)) as Interpretation).candidates[0] ?? {}
  return { intent, slots, unrecognised }
}

describe('what rules do not recognise', () => {
  it.each([
    ['I want to fly from Berlin to Dubai', 'book', { to: 'DXB' }, [{ slot: 'from', text: 'Berlin' }]],
    ['i want to fly from berlin to dubai', 'book', { to: 'DXB' }, [{ slot: 'from', text: 'berlin' }]],
    ['book a flight to New Orleans from Lahore', 'book', { from: 'LHE' }, [{ slot: 'to', text: 'New Orleans' }]],
    ['From Berlin', 'correct', {}, [{ slot: 'from', text: 'Berlin' }]],
    ['no, to Paris', 'correct', {}, [{ slot: 'to', text: 'Paris' }]],
    ['actually to the Hague', 'correct', {}, [{ slot: 'to', text: 'Hague' }]],
    ['from Lahore, no, from Berlin', 'correct', {}, [{ slot: 'from', text: 'Berlin' }]],
    ['from Berlin, no, from Lahore', 'correct', { from: 'LHE' }, undefined],
    ['fly to Dubai for 40 people', 'book', { to: 'DXB' }, [{ slot: 'seats', text: '40' }]],
    ['the weather in Paris', 'weather', {}, [{ slot: 'city', text: 'Paris' }]],
  ])('reports it: %s', (text, intent, filled, unrecognised) => {
    expect(best(text)).toEqual({ intent, slots: filled, unrecognised })
  })
})

const Route = z.object({ from: z.enum(['LHE', 'DXB']).optional(), to: z.enum(['LHE', 'DXB']).optional() })
const City = z.enum(['LHE', 'DXB']).nullable().default(null)

function askAgain({ data, slot, text, say }: Asking): void {
  data[slot as 'from' | 'to'] = null
  say(`No flight goes from or to ${text}.`)
}

interface Asking {
  readonly data: { from: z.output<typeof City>; to: z.output<typeof City> }
  readonly slot: string
  readonly text: string
  say(text: string): void
}

function talk(handles: boolean) {
  const booking = defineContext({
    name: 'booking',
    description: 'your booking',
    data: z.object({ from: City, to: City }),
    intents: { book: Route, correct: Route, decline: z.object({}), weather: z.object({}) },
    initial: 'asking',
    opens: { book: { effect: ({ data, slots: said }) => Object.assign(data, said) } },
    on: { correct: { target: 'asking', effect: ({ data, slots: said }) => Object.assign(data, said) } },
    ...(handles && { unrecognised: askAgain }),
    states: { asking: { prompt: ({ data }) => `${data.from ?? 'where'} to ${data.to ?? 'where'}?` } },
  })
  const conversation = defineConversation({ name: 'talk', contexts: [booking], interpreter })
  let { record } = conversation.start()
  return (text: string) => {
    const interpreted = conversation.interpretNow(record, text, { now: MONDAY })
    // An interpretation is stored as JSON, and a replay has nothing else.
    const input = JSON.parse(JSON.stringify({ kind: 'utterance', text, interpreted, now: MONDAY }))
    const result = conversation.handleInput(record, input)
    record = conversation.parse(JSON.parse(JSON.stringify(result.record)))
    return { replies: result.replies.map((reply) => reply.text), data: record.public.stack.at(-1)?.data }
  }
}

describe('a conversation', () => {
  it('passes it to the context, which takes the other slots and asks again for the missing one', () => {
    const say = talk(true)
    say('book a flight from Lahore to Dubai')
    expect(say('no, from Berlin')).toEqual({
      replies: ['No flight goes from or to Berlin.', 'where to DXB?'],
      data: { from: null, to: 'DXB' },
    })
    expect(say('from Lahore, no, to Paris').data).toEqual({ from: 'LHE', to: null })
  })
})
