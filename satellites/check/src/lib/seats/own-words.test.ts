import { connect, definePolicy, runMatch } from '@episodic/env'
import { createHost, defineGame, inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from '../check-world.ts'

/** A user who wants something, and a clerk who writes down what it is. `shows`: what the rules show the clerk. */
const desk = (shows: (said: string, wish: string) => string) =>
  defineGame({
    name: 'wishes',
    version: '1.0.0',
    description: 'Tell the clerk what you want.',
    seats: ['user', 'clerk'],
    utility: 'common',
    params: z.object({}),
    state: {
      public: z.object({ said: z.string(), turns: z.int() }),
      own: z.object({ wish: z.string() }),
      private: z.object({}),
    },
    limits: { steps: 12 },
    start: ({ rng }) => ({
      public: { said: '', turns: 0 },
      own: { user: { wish: `wish-${rng.int(1, 1e9)}` }, clerk: { wish: '' } },
      private: {},
    }),
    turn: ({ turns }) => (turns % 2 === 0 ? 'user' : 'clerk'),
    observe: ({ public: { said }, own }) => `Said: ${said}. ${own.wish && `You want ${own.wish}.`}`,
    tools: ({ tool }) => ({
      tell: tool({
        description: 'Say something.',
        seats: ['user'],
        input: z.object({ text: z.string().max(60).describe('What to say.') }),
        play({ state, input, say }) {
          state.public.said = shows(input.text, state.own.user?.wish ?? '')
          state.public.turns += 1
          return say('Said.')
        },
      }),
      note: tool({
        description: 'Write down what the user wants.',
        seats: ['clerk'],
        input: z.object({ text: z.string().max(60).describe('What to note.') }),
        output: z.object({ noted: z.string() }),
        play({ state, input, say, end }) {
          state.public.turns += 1
          if (input.text === state.own.user?.wish) end('noted')
          return say('Noted.', { noted: input.text })
        },
      }),
    }),
    rewards: { noted: ({ end }) => (end?.reason === 'noted' ? 1 : 0) },
  })

const wishIn = (text: string) => /wish-\d+|[0-9a-f]{24}/.exec(text)?.[0] ?? 'nothing'

/** The user says its wish; the clerk notes what was said. */
const solver = definePolicy({
  name: 'speaking',
  start:
    ({ seat }) =>
    ({ text }) =>
      seat === 'user'
        ? { tool: 'tell', arguments: { text: wishIn(text) } }
        : { tool: 'note', arguments: { text: wishIn(text) } },
})

const canaries = async (environment: ReturnType<typeof desk>) => {
  const options = { only: ['canaries'] } as const
  const { checks } = await checkWorld({ environment, solver }, options)
  return checks.flatMap(({ findings }) => findings.map(({ name }) => name))
}

describe('the canaries of seats', () => {
  it('let others read what a seat itself has said, and nothing else that it holds', async () => {
    expect(await canaries(desk((said) => said))).toEqual([])
    expect(await canaries(desk((_, wish) => wish))).toEqual(['secret-sent:own.user.wish'])
  })
})

describe('a policy of a seat', () => {
  it('gets the same in a check as in a run', async () => {
    const environment = desk((said) => said)
    const noting = (into: Set<string>) =>
      definePolicy({
        name: 'listening',
        start({ seat }) {
          let moves = 0
          return (observation, { last }) => {
            moves += 1
            const { text, structured } = observation
            into.add(
              JSON.stringify([
                seat,
                moves,
                Object.keys(structured ?? {}),
                text.split('\n').length,
                last?.observation === observation,
              ]),
            )
            return seat === 'user'
              ? { tool: 'tell', arguments: { text: 'hello' } }
              : { tool: 'note', arguments: { text: 'hello' } }
          }
        },
      })
    const [inRun, inCheck] = [new Set<string>(), new Set<string>()]
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    const listening = noting(inRun)
    await runMatch({ createGame: () => connection.game(), policies: { user: listening, clerk: listening }, seed: '1' })
    // Of all checks, this one plays the solver without noise.
    await checkWorld({ environment, solver: noting(inCheck) }, { only: ['rewards'] })
    expect(inRun.size).toBeGreaterThan(10)
    for (const line of inRun) expect(inCheck).toContain(line)
  })
})
