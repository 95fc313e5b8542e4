import { definePolicy, type Policy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import type { Json, Rng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from '../check-world.ts'

const WORDS = ['harbour', 'lantern', 'meadow', 'orchid', 'pepper', 'quarry', 'saddle', 'timber', 'velvet', 'walnut']
const LEVELS = 8

const hidden = z.object({ code: z.int(), word: z.string(), notes: z.array(z.string()) })
const dealt = (rng: Rng): z.infer<typeof hidden> => {
  const notes = rng.shuffle(WORDS).slice(0, 5)
  return { code: rng.int(1, 12), word: notes[0] as string, notes: notes.slice(1) }
}

interface Turn {
  readonly hidden: z.infer<typeof hidden>
  readonly seen: { calls: number; level: number }
  readonly text: string
  readonly number: number
  say(text: string): void
  refuse(text: string): void
  end(reason: string): void
  reveal<T extends Json>(value: T): T
}

/** A world of one tool that takes a text and a number. `step`: what it does with them. */
function desk(step: (turn: Turn) => void, solver: Policy | null = null) {
  const environment = defineEnvironment({
    name: 'desk',
    version: '1.0.0',
    description: 'Find out what is hidden.',
    state: { public: z.object({ calls: z.int(), level: z.int() }), private: hidden },
    limits: { steps: 200 },
    start: ({ rng }) => ({ public: { calls: 0, level: 0 }, private: dealt(rng) }),
    observe: ({ calls }) => `${calls} calls.`,
    tools: ({ tool }) => ({
      ask: tool({
        description: 'Ask.',
        input: z.object({
          text: z.string().max(40).describe('A text.'),
          number: z.int().min(1).max(12).describe('A number.'),
        }),
        play({ state, input, say, refuse, end, reveal }) {
          state.public.calls += 1
          let answer: ReturnType<typeof say> | ReturnType<typeof refuse> = say('Noted.')
          step({
            ...{ hidden: state.private, seen: state.public, ...input },
            say(text) {
              answer = say(text)
            },
            refuse(text) {
              answer = refuse(text)
            },
            end,
            reveal,
          })
          return answer
        },
      }),
    }),
    rewards: { won: ({ end }) => (end?.reason === 'won' ? 1 : 0) },
  })
  return { environment, solver }
}

const climber = definePolicy({
  name: 'climber',
  start: () => () => ({ tool: 'ask', arguments: { text: 'up', number: 1 } }),
})

async function find({ environment, solver }: ReturnType<typeof desk>) {
  const { checks, ok } = await checkWorld(
    { environment, solver },
    { only: ['non-interference', 'canaries'], pairs: 100 },
  )
  return { ok, names: checks.flatMap(({ findings }) => findings.map(({ name }) => name)) }
}

/** Counts as `says`, and may end the game by a right guess, as a careless search or lock does. */
type Planted = readonly [name: string, step: (turn: Turn) => void, solver: Policy | null]
const LEAKS: readonly Planted[] = [
  [
    'counts a row that is not shown',
    ({ hidden, text, say }) => say(`${hidden.notes.filter((note) => note.includes(text)).length} found.`),
    null,
  ],
  [
    'says that a beginning is ambiguous',
    ({ hidden, text, refuse }) => hidden.word.startsWith(text) && text.length > 1 && refuse('Say more.'),
    null,
  ],
  ['ends the game unsaid', ({ hidden, text, end }) => text === hidden.word && end('caught'), null],
  [
    'corrects a word in a refusal',
    ({ hidden, text, refuse }) =>
      text.length > 2 && text !== hidden.word && hidden.word.includes(text) && refuse(`Did you mean ${hidden.word}?`),
    null,
  ],
  [
    'talks after the ninetieth call, where a right guess ends the game',
    ({ hidden, seen, number, end, say, reveal }) => {
      if (reveal(number === hidden.code)) end('won')
      else if (seen.calls > 90) say(`It is ${hidden.code > 6 ? 'high' : 'low'}.`)
    },
    null,
  ],
  [
    'talks on the eighth level, where all but the solver fall',
    ({ hidden, seen, text, end, say }) => {
      seen.level = text === 'up' ? seen.level + 1 : 0
      if (seen.level === 0 && seen.calls > 1) end('fallen')
      if (seen.level >= LEVELS) say(`A voice says ${hidden.word}.`)
    },
    climber,
  ],
  [
    'answers at length near the number',
    ({ hidden, number, say }) => say('.'.repeat(hidden.code - number === 1 ? 2 : 1)),
    null,
  ],
]

const SOUND: typeof LEAKS = [
  [
    'reveals what it finds',
    ({ hidden, text, say, reveal }) =>
      say(`${reveal(hidden.notes.filter((note) => note.includes(text)).length)} found.`),
    null,
  ],
  [
    'reveals whether a guess is right',
    ({ hidden, text, number, end, reveal }) =>
      void (reveal(text === hidden.word && number === hidden.code) && end('won')),
    null,
  ],
  [
    'talks after ninety calls, and reveals it',
    ({ hidden, seen, say, reveal }) => void (seen.calls > 90 && say(`It is ${reveal(hidden.word)}.`)),
    null,
  ],
]

describe('the non-interference check', () => {
  it.each(LEAKS)('finds a desk that %s', async (_, step, solver) => {
    expect((await find(desk(step, solver))).names.join()).toMatch(/-differs:|secret-sent/)
  })

  it.each(SOUND)('finds nothing in a desk that %s', async (_, step) => {
    expect(await find(desk(step))).toEqual({ ok: true, names: [] })
  })
})
