import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { booking, shared, weather } from '../fixtures/travel.fixture.ts'
import { ContextError } from '../model/context-error.ts'
import { createRulesInterpreter } from '../nlu/rules-interpreter.ts'
import { defineContext } from './define-context.ts'
import { defineConversation } from './define-conversation.ts'

const sound = {
  name: 'sound',
  description: 'what is well',
  data: z.object({}),
  intents: { go: z.object({}) },
  events: { bell: z.object({}) },
  initial: 'here',
  states: { here: { on: { go: { target: 'there' } } }, there: { final: true } },
} as const

describe('defineContext', () => {
  it.each<[string, object, string]>([
    ['a name that is none', { name: 'My Context' }, 'lower-case words'],
    ['a first state that it has not', { initial: 'nowhere' }, 'first state "nowhere"'],
    [
      'a target that it has not',
      { states: { here: { on: { go: { target: 'nowhere' } } } } },
      'here, go goes to "nowhere"',
    ],
    ['an automatic target that it has not', { states: { here: { always: [{ target: 'nowhere' }] } } }, '"nowhere"'],
    ['a handler for what is not declared', { states: { here: { on: { fly: {} } } } }, 'here names "fly"'],
    ['a handler of its own for what is not declared', { on: { fly: {} } }, 'on names "fly"'],
    ['an event that opens it', { opens: { bell: {} } }, 'opens names "bell"'],
    ['a final state that goes on', { states: { here: { final: true, on: { go: {} } } } }, 'final'],
    ['data that do not begin by themselves', { data: z.object({ city: z.string() }) }, 'city'],
    ['hidden data that do not begin by themselves', { hidden: z.object({ seed: z.int() }) }, 'its hidden schema'],
    ['data that JSON cannot say', { data: z.object({ at: z.date().default(new Date(0)) }) }, 'data.at is a Date'],
    ['a name that is both', { events: { go: z.object({}) } }, 'go is both'],
    [
      'a state that cannot be named',
      { states: { 'in the middle': {} }, initial: 'in the middle' },
      'no name of a state',
    ],
  ])('refuses %s', (_, wrong, message) => {
    const define = () => defineContext({ ...sound, ...wrong } as never)
    expect(define).toThrow(
      expect.objectContaining({ code: 'definition-invalid', message: expect.stringContaining(message) }),
    )
    try {
      define()
    } catch (error) {
      expect(ContextError.is(error, 'definition-invalid')).toBe(true)
    }
  })
})

describe('defineConversation', () => {
  it.each<[string, object, string]>([
    ['a name that is none', { name: 'Travel!' }, 'lower-case words'],
    ['no contexts', { contexts: [] }, 'no contexts'],
    ['two contexts of one name', { contexts: [weather, weather] }, 'the same name'],
    ['a first context that it has not', { initial: 'hotel' }, 'first context "hotel"'],
    [
      'contexts that share something else',
      { shared: { ...shared, private: z.object({}) } },
      'has other shared schemas',
    ],
    ['a bound that is none', { bounds: { depth: 0 } }, 'bound depth is 0'],
    ['a bound that is none, inside', { bounds: { history: { entries: 1, bytes: Number.NaN } } }, 'history.bytes'],
    [
      'one intent with two meanings',
      {
        contexts: [
          weather,
          defineContext({ ...sound, intents: { go: z.object({}), 'next-day': z.object({ of: z.string() }) } }),
        ],
      },
      'different slots by the intent next-day',
    ],
    [
      'one event with two meanings',
      { contexts: [booking, defineContext({ ...sound, events: { 'sold-out': z.object({ at: z.int() }) } })] },
      'different data by the event sold-out',
    ],
    [
      'slots that JSON Schema cannot describe',
      { contexts: [defineContext({ ...sound, intents: { go: z.object({ at: z.date() }) } })] },
      'cannot describe the slots of go',
    ],
    [
      'slots that are no object',
      { contexts: [defineContext({ ...sound, intents: { go: z.string() } })] },
      'object schema',
    ],
    [
      'rules for an intent that nobody knows',
      { interpreter: createRulesInterpreter({ 'book-flihgt': { phrases: ['fly'] }, cancel: { phrases: ['stop'] } }) },
      'written for book-flihgt, and its intents are book-flight, ',
    ],
  ])('refuses %s', (_, wrong, message) => {
    expect(() =>
      defineConversation({ name: 'travel', contexts: [booking, weather], shared, ...wrong } as never),
    ).toThrow(expect.objectContaining({ code: 'definition-invalid', message: expect.stringContaining(message) }))
  })
})
