import { createHost, defineGame, inProcess } from '@episodic/mcp-server'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { connect } from '../connect.ts'
import { definePolicy } from '../policy/policy.ts'
import type { Game } from './game.ts'
import { runMatch } from './run-match.ts'

/** Two speakers take turns, unless a chair calls on one of them. */
const debate = defineGame({
  name: 'debate',
  version: '1.0.0',
  description: 'Speak in turn.',
  seats: ['ann', 'bob'],
  state: {
    public: z.object({ speaker: z.enum(['ann', 'bob']), said: z.int() }),
    own: z.object({}),
    private: z.object({}),
  },
  start: () => ({ public: { speaker: 'ann', said: 0 }, own: { ann: {}, bob: {} }, private: {} }),
  turn: ({ speaker }) => speaker,
  observe: ({ public: { said } }) => `${said} were said.`,
  events: ({ event }) => ({
    called: event({
      description: 'The chair calls on somebody.',
      data: z.object({ on: z.enum(['ann', 'bob']) }),
      apply({ state, data: { on }, say, send }) {
        state.public.speaker = on
        say(`The chair calls on ${on}.`)
        send(on, 'Be brief.')
      },
    }),
  }),
  tools: ({ tool }) => ({
    speak: tool({
      description: 'Speaks.',
      input: z.object({}),
      play({ state, others: [other], say, end }) {
        state.public.said += 1
        if (other) state.public.speaker = other
        if (state.public.said === 4) end('closed-debate')
        return say('You spoke.')
      },
    }),
  }),
  rewards: { calls: ({ events }) => events.length },
})

it('goes on with the seat that an event gives the turn to, and shows every seat what it is sent', async () => {
  await using host = createHost({ environments: [debate] })
  await using connection = await connect(inProcess(host))
  let game: Game | null = null
  const shown: string[] = []
  const speaker = definePolicy({
    name: 'speaker',
    start:
      ({ seat }) =>
      async ({ text }) => {
        shown.push(`${seat}: ${text}`)
        // The chair speaks while the first speaker thinks.
        if (shown.length === 1) await game?.publish({ type: 'called', data: { on: 'bob' } })
        return { tool: 'speak', arguments: {} }
      },
  })
  const createGame = () => {
    game = connection.game('debate')
    return game
  }
  const match = await runMatch({ createGame, policies: { ann: speaker, bob: speaker } })
  expect(match).toMatchObject({
    kind: 'finished',
    seats: { ann: { terms: { calls: 1 }, end: { reason: 'closed-debate' } }, bob: { terms: { calls: 1 } } },
  })
  expect(shown).toEqual([
    'ann: 0 were said.',
    'bob: 0 were said.',
    'ann: The chair calls on bob.\n1 were said.',
    'bob: The chair calls on bob.\nBe brief.\nYou spoke.\n2 were said.',
    'ann: You spoke.\n3 were said.',
  ])
  expect(match.steps.flatMap(({ report }) => report.events ?? [])).toMatchObject([
    { type: 'called', said: 'The chair calls on bob.', sent: { bob: ['Be brief.'] } },
  ])
})
