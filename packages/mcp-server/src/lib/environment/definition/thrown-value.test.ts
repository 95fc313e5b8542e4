import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { rehearse } from '../rehearse/rehearse.ts'
import { defineEnvironment } from './define-environment.ts'

/** A world whose tool does something, with the function that ends the episode. */
function worldThat(
  play: (end: (reason: string) => void) => unknown,
  start: () => unknown = () => ({ public: {}, private: {} }),
) {
  return defineEnvironment({
    name: 'odd',
    version: '1.0.0',
    description: 'Does something odd.',
    state: { public: z.object({}), private: z.object({}) },
    start: start as () => { public: Record<string, never>; private: Record<string, never> },
    observe: () => 'Go on.',
    tools: ({ tool }) => ({
      act: tool({
        description: 'Act.',
        input: z.object({}),
        play({ say, end }) {
          play(end)
          return say('Done.')
        },
      }),
    }),
    rewards: { none: () => 0 },
  })
}

function messageOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('Nothing was thrown.')
}

const thrownBy = (play: Parameters<typeof worldThat>[0]) => messageOf(() => rehearse(worldThat(play)).play('act', {}))

describe('what rules throw', () => {
  it.each<[string, unknown]>([
    ['plain text', 'plain text'],
    ['null', null],
    ['[object Object]', { code: 1 }],
  ])('is named without a place if it is no error: %s', (words, thrown) => {
    const message = thrownBy(() => {
      throw thrown
    })
    // The frames would be those of our own code.
    expect(message).toBe(`Tool act of odd threw: This was thrown, and is no error: ${words}`)
  })

  it.each<[string, () => unknown]>([
    [
      'AggregateError: one; two',
      () => {
        throw new AggregateError([new Error('one'), new Error('two')])
      },
    ],
    [
      'an error without a message',
      () => {
        throw new Error()
      },
    ],
    ['ZodError: Invalid input: expected number, received string', () => z.int().parse('x')],
  ])('says what it found: %s', (words, play) => {
    expect(thrownBy(play).split('\n')[0]).toBe(`Tool act of odd threw: ${words}`)
  })
})

describe('an end without a reason', () => {
  it.each([
    [5, '5'],
    ['', '""'],
    [undefined, 'undefined'],
    ['\ud83d', '"\\ud83d"'],
  ])('is named: %j', (reason, shown) => {
    expect(thrownBy((end) => end(reason as string)).split('\n')[0]).toBe(
      `Tool act of odd threw: TypeError: end needs a reason, which is a short text such as "solved"; it got ${shown}.`,
    )
  })
})

describe('a start that returns no state', () => {
  it.each([undefined, null, 5])('is named: %s', (value) => {
    const world = worldThat(
      () => {},
      () => value,
    )
    expect(messageOf(() => rehearse(world))).toMatch(
      /^`start` of odd returned (undefined|null|number), and has to return the state that the episode begins with\.$/,
    )
  })
})
