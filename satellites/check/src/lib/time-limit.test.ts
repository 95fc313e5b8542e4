import { once } from 'node:events'
import { definePolicy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type CheckOptions, checkWorld } from './check-world.ts'
import { isIncomplete } from './finding.ts'

interface Called {
  readonly signal: AbortSignal
}

/** A world with a program that does not end by itself. */
function slowWorld(prepare: (called: Called) => Promise<never>) {
  const environment = defineEnvironment({
    name: 'kitchen',
    version: '1.0.0',
    description: 'Bake.',
    params: z.object({}),
    state: { public: z.object({ baked: z.boolean() }), private: z.object({ heat: z.int() }) },
    limits: { steps: 20 },
    start: ({ rng }) => ({ public: { baked: false }, private: { heat: rng.int(1, 9) } }),
    observe: ({ baked }) => (baked ? 'Baked.' : 'Dough.'),
    tools: ({ tool }) => ({
      bake: tool({
        description: 'Bakes for a minute.',
        input: z.object({}),
        prepared: z.object({}),
        repeatable: true,
        prepareSeconds: 600,
        prepare,
        play({ state, say }) {
          state.public.baked = true
          return say('It bakes.')
        },
      }),
      take: tool({
        description: 'Takes it out.',
        input: z.object({}),
        play({ end, say }) {
          end('taken')
          return say('Out.')
        },
      }),
    }),
    rewards: { bread: ({ end, after }) => (end?.reason === 'taken' && after.public.baked ? 1 : 0) },
  })
  const tool = (text: string) => (text === 'Dough.' ? 'bake' : 'take')
  const solver = definePolicy({
    name: 'baker',
    start:
      () =>
      ({ text }) => ({ tool: tool(text), arguments: {} }),
  })
  return { environment, solver }
}

describe('checkWorld with a limit of time', () => {
  it.each([
    [
      'that are called off',
      async ({ signal }: Called) => {
        await once(signal, 'abort')
        throw signal.reason
      },
    ],
    ['that go on', () => new Promise<never>(() => {})],
  ])('ends in a world of programs %s, blames nobody, and says what it did not get to', async (_, prepare) => {
    const options: CheckOptions = { seconds: 1 }
    const { checks, outcome } = await checkWorld(slowWorld(prepare), options)
    expect(checks.flatMap(({ findings }) => findings)).toEqual([])
    expect(outcome).toBe('incomplete')
    const exploits = checks.find(({ name }) => name === 'exploits')
    expect(exploits?.warnings.filter(isIncomplete)).toMatchObject([
      {
        name: 'time-over',
        what: expect.stringMatching(/^Its [\d.]+ s were over after \d+ of \d+ tasks for the solver/),
      },
    ])
  })
})
