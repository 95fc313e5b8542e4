import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRulesInterpreter, day, type Entity, oneOf, type Rules, wholeNumber, yesOrNo } from '../../interpret.ts'
import { earlier, requestOf } from '../fixtures/request.fixture.ts'
import { ContextError } from '../model/context-error.ts'
import type { IntentCandidate, Interpretation, InterpretRequest } from '../model/interpreter.ts'

const place = oneOf(
  {
    LHE: ['Lahore', 'LHE'],
    DXB: ['Dubai', 'DXB'],
    DOH: ['Doha'],
    AUH: ['Abu Dhabi'],
    GRU: ['São Paulo'],
    CUN: ['CAN'],
  },
  { again: ['there'] },
)
const date = day()
const count = wholeNumber({ least: 1, most: 9 })
const details = {
  from: { entity: place, after: ['from', 'departing from'] },
  to: { entity: place, after: ['to'] },
  place: { entity: place },
  date: { entity: date },
  part: { entity: oneOf({ morning: ['morning'] }) },
  passengers: { entity: count, after: ['for'], before: ['passengers', 'people'] },
}
const RULES: Rules = {
  book: { phrases: ['(book|reserve) (a|the)? (flight|ticket)', 'fly'], slots: details },
  details: { beside: ['no', 'actually', "that's wrong"], slots: details },
  deny: { phrases: ['(no|nope)'] },
  weather: {
    phrases: ['(what|how) is the weather', 'weather'],
    slots: { city: { entity: place }, date: { entity: date } },
  },
  window: { phrases: ['window seat'], slots: { wanted: { entity: yesOrNo() } }, needs: ['wanted'] },
}
const interpreter = createRulesInterpreter(RULES)

const interpret = (text: string, given: Partial<InterpretRequest> = {}) =>
  (interpreter.interpret(requestOf(text, given)) as Interpretation).candidates
const best = (text: string, given: Partial<InterpretRequest> = {}) => interpret(text, given)[0] as IntentCandidate

describe('createRulesInterpreter', () => {
  it.each([
    ['I want to book a flight', 'book', {}],
    ['From Lahore to Dubai', 'details', { from: 'LHE', to: 'DXB' }],
    ['to Dubai from Lahore', 'details', { from: 'LHE', to: 'DXB' }],
    ["What's the weather in Dubai?", 'weather', { city: 'DXB' }],
    ['no, to Doha', 'details', { to: 'DOH' }],
    ['that is wrong, from the Doha', 'details', { from: 'DOH' }],
    ['no', 'deny', {}],
    ['nope', 'deny', {}],
    ['Abu Dhabi', 'details', { place: 'AUH' }],
    ['sao paulo', 'details', { place: 'GRU' }],
    ['on 3 December for two people', 'details', { date: '2026-12-03', passengers: 2 }],
    ['on 3 December in the morning', 'details', { date: '2026-12-03', part: 'morning' }],
    ['twenty people', undefined, undefined],
    ['a window seat, yes', 'window', { wanted: true }],
    ['a window seat', undefined, undefined],
    ['to Dubai, sorry, to Doha', 'details', { to: 'DOH' }],
    ['not Dubai, Doha', 'details', { place: 'DOH' }],
    ["what's the weather in Doha, not in Dubai", 'weather', { city: 'DOH' }],
  ])('takes "%s" for %s', (text, intent, slots) => {
    expect(best(text)?.intent).toBe(intent)
    if (slots) expect(best(text).slots).toMatchObject(slots)
  })

  it.each(['to Doha, not to Dubai', 'not to Dubai, to Doha', 'to Doha, not Dubai'])(
    'fills no slot at all with what is denied in "%s"',
    (text) => {
      expect(best(text)).toMatchObject({ intent: 'details' })
      expect(best(text).slots).toEqual({ to: 'DOH' })
    },
  )

  it('understands a follow-up from the history', () => {
    const history = [earlier('weather', { city: 'DXB', date: '2026-03-31' })]
    expect(best('and the day after?', { history })).toEqual({
      intent: 'weather',
      score: 1,
      slots: { city: 'DXB', date: '2026-04-01' },
    })
    expect(best('what about Doha?', { history })).toMatchObject({ intent: 'weather', slots: { city: 'DOH' } })
    expect(best('and the day after?')).toMatchObject({ intent: 'details', slots: { date: '2026-01-06' } })
    expect(best('how is the weather there', { history }).slots).toEqual({ city: 'DXB' })
  })

  it('returns valid scores and the same answer for any text, without randomness', () => {
    const words = fc.constantFrom(
      'no',
      'to',
      'Dubai',
      'weather',
      "what's",
      '2',
      'on',
      'may',
      'dont',
      '5pm',
      'constructor',
      '(',
      '…',
      '🙂',
    )
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words, { maxLength: 30 }).map((all) => all.join(' ')),
    )
    const other = createRulesInterpreter(RULES)
    const { random } = Math
    Math.random = () => {
      throw new Error('The interpreter uses chance.')
    }
    try {
      fc.assert(
        fc.property(anyText, fc.integer({ min: 0, max: 4e12 }), (text, now) => {
          const candidates = interpret(text, { now })
          expect(interpret(text, { now })).toEqual(candidates)
          expect(other.interpret(requestOf(text, { now }))).toEqual({ candidates })
          for (const { score } of candidates) {
            expect(score).toBeGreaterThan(0)
            expect(score).toBeLessThanOrEqual(1)
          }
        }),
        { seed: 7, numRuns: 400 },
      )
    } finally {
      Math.random = random
    }
  })

  it('reads a text once, and anew what depends on the time or on an earlier value', () => {
    const asked = { name: 0, time: 0, earlier: 0 }
    const entity = (kind: keyof typeof asked, find: Entity['find']): Entity => ({
      words: [kind],
      find(utterance, context) {
        asked[kind] += 1
        return utterance.words.some(({ normal }) => normal === kind) ? find(utterance, context) : []
      },
    })
    const { interpret: hear } = createRulesInterpreter({
      tell: {
        slots: {
          name: { entity: entity('name', () => [{ start: 0, end: 1, value: 'Ann' }]) },
          time: { entity: entity('time', (_, { now }) => [{ start: 1, end: 2, value: now }]) },
          earlier: { entity: entity('earlier', (_, { last }) => [{ start: 2, end: 3, value: last }]) },
        },
      },
    })
    const slots = (now: number, said: string) => {
      const { candidates } = hear(
        requestOf('name time earlier', { now, history: [earlier('tell', { earlier: said })] }),
      ) as Interpretation
      return candidates[0]?.slots
    }
    for (const [now, said] of [
      [1, 'a'],
      [1, 'b'],
      [2, 'b'],
    ] as const)
      expect(slots(now, said)).toEqual({ name: 'Ann', time: now, earlier: said })
    expect(asked).toEqual({ name: 1, time: 2, earlier: 3 })
  })

  it.each([
    ['neither phrases nor slots', { idle: {} }, 'The rule of "idle" never applies'],
    ['a phrase without a word', { idle: { phrases: ['?!'] } }, 'The phrase "?!" of "idle" has no word in it.'],
    ['a need for a slot that is not there', { idle: { phrases: ['x'], needs: ['when'] } }, 'needs when'],
  ])('refuses %s', (_, rules, message) => {
    expect(() => createRulesInterpreter(rules)).toThrow(message)
    try {
      createRulesInterpreter(rules)
    } catch (error) {
      expect(ContextError.is(error, 'definition-invalid')).toBe(true)
    }
  })
})

describe('an entity', () => {
  it.each([
    [
      'wholeNumber without its call',
      wholeNumber,
      'the function wholeNumber, and has to be an entity: call it, as in wholeNumber({ least: 1, most: 9 })',
    ],
    ['day without its call', day, 'the function day, and has to be an entity: call it, as in day()'],
    ['nothing', undefined, 'undefined, and has to be an entity.'],
    ['a text', 'number', 'number, and has to be an entity.'],
  ])('that is %s is refused, and its slot is named', (_, entity, why) => {
    const define = () =>
      createRulesInterpreter({ order: { phrases: ['order'], slots: { count: { entity: entity as never } } } })
    expect(define).toThrow(ContextError)
    expect(define).toThrow(`The entity of the slot "count" of "order" is ${why}`)
  })
})
