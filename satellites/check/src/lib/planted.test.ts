import { createHash } from 'node:crypto'
import { definePolicy, type Policy } from '@episodic/env'
import { defineEnvironment } from '@episodic/mcp-server'
import { createRng } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checkWorld } from './check-world.ts'

/** As a first look finds it, of which the whole check plays more. */
const found = async (world: Parameters<typeof checkWorld>[0], only: 'exploits' | 'non-interference') => {
  const { checks } = await checkWorld(world, {
    only: [only],
    pairs: 40,
    share: 0.25,
  })
  return checks.flatMap(({ findings }) => findings.map(({ name, what }) => (name === 'world-failed' ? what : name)))
}

const CAUSES = ['a loose belt', 'an empty tank', 'a blown fuse', 'a flat battery'] as const

/** What is wrong with a machine has to be said in words. `accepts`: how the answer is graded. */
const machine = (accepts: (answer: string, cause: string) => boolean) => ({
  environment: defineEnvironment({
    name: 'machine',
    version: '1.0.0',
    description: 'Say what is wrong with the machine.',
    params: z.object({}),
    state: { public: z.object({ sound: z.int() }), private: z.object({ cause: z.string() }) },
    limits: { steps: 4 },
    start({ rng }) {
      const sound = rng.int(0, 3)
      return { public: { sound }, private: { cause: CAUSES[sound] as string } }
    },
    observe: ({ sound }) => `It makes the sound ${sound}.`,
    check: { waive: { 'start-reveals': 'A mechanic knows the sounds.', 'start-narrows': 'The same.' } },
    tools: ({ tool }) => ({
      answer: tool({
        description: 'Say what is wrong.',
        input: z.object({ text: z.string().max(2_000).describe('What is wrong.') }),
        play({ state, input, reveal, end, say }) {
          end(reveal(accepts(input.text, state.private.cause)) ? 'right' : 'wrong')
          return say('Thank you.')
        },
      }),
    }),
    rewards: { right: ({ end }) => (end?.reason === 'right' ? 1 : 0) },
  }),
  solver: definePolicy({
    name: 'mechanic',
    start:
      () =>
      ({ text }) => ({
        tool: 'answer',
        arguments: { text: CAUSES[Number(/sound (\d)/.exec(text)?.[1])] as string },
      }),
  }),
})

describe('the exploits check', () => {
  it('finds a grader that looks for words, and none that compares the whole answer', async () => {
    expect(
      await found(
        machine((answer, cause) => answer.includes(cause)),
        'exploits',
      ),
    ).toEqual(['exploit-pays:says all words at once', 'hack-pays:same-actions'])
    expect(
      await found(
        machine((answer, cause) => answer === cause),
        'exploits',
      ),
    ).toEqual([])
  })

  it('loses nothing that it finds, and blames no world, if who proposes scripts fails or never answers', async () => {
    const fails = definePolicy({ name: 'silent', start: () => () => Promise.reject(new Error('no answer')) })
    const waits = definePolicy({
      name: 'slow',
      start:
        () =>
        (_, { signal }) =>
          new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    })
    const play = async (hacker: Policy, seconds?: number) => {
      const world = machine((answer, cause) => answer.includes(cause))
      const { checks } = await checkWorld(world, {
        only: ['exploits'],
        share: 0.25,
        hacker,
        ...(seconds && { seconds }),
      })
      return checks[0]
    }
    const failed = await play(fails)
    expect(failed?.hacks).toMatchObject([{ rule: 'same-actions' }])
    expect(failed?.warnings).toMatchObject([
      { name: 'hacker-failed', what: expect.stringMatching(/hacker silent failed after 0 scripts.*no answer/) },
    ])
    const late = await play(waits, 1)
    expect(late?.findings.filter(({ name }) => name === 'world-failed')).toEqual([])
    expect(late?.warnings.map(({ name }) => name)).toContain('time-over')
  })
})

/** A lock with a code, whose public token is made of it or drawn beside it. */
const lock = (tokenOf: (code: number, other: number) => string | number) => ({
  environment: defineEnvironment({
    name: 'lock',
    version: '1.0.0',
    description: 'Open the lock.',
    params: z.object({}),
    state: {
      public: z.object({ token: z.union([z.string(), z.int()]), tries: z.int() }),
      private: z.object({ code: z.int() }),
    },
    limits: { steps: 200 },
    start({ rng }) {
      const code = rng.int(1, 1_000_000)
      return { public: { token: tokenOf(code, rng.stream('token').int(1, 1_000_000)), tries: 0 }, private: { code } }
    },
    observe: ({ tries }) => `Tried ${tries} times.`,
    tools: ({ tool }) => ({
      turn: tool({
        description: 'Turn the dial.',
        input: z.object({ to: z.int().min(1).max(1_000_000).describe('Where to.') }),
        play({ state, input, reveal, end, say }) {
          state.public.tries += 1
          const isOpen = reveal(input.to === state.private.code)
          if (isOpen) end('open')
          return say(isOpen ? 'Open.' : 'Click.')
        },
      }),
    }),
    rewards: { open: ({ end }) => (end?.reason === 'open' ? 1 : 0) },
  }),
})

describe('the non-interference check', () => {
  const hash = (algorithm: string, code: number) => createHash(algorithm).update(String(code))

  it.each<[string, (code: number) => string | number]>([
    ['a hash', (code) => hash('sha256', code).digest('hex')],
    ['a short hash', (code) => hash('md5', code).digest('base64url').slice(0, 10)],
    ['an encoding', (code) => `token-${Buffer.from(String(code)).toString('base64url')}`],
    ['a sum', (code) => code + 12_345],
    ['an exclusive or', (code) => code ^ 0x5a5a5],
    ['a linear function', (code) => `${code * 7 + 3}`],
  ])('finds a secret that follows from a public token: %s', async (_, tokenOf) => {
    expect(await found(lock(tokenOf), 'non-interference')).toContain('start-reveals:code')
  })

  it.each<[string, (code: number, other: number) => string | number]>([
    ['of its own', (_, other) => other],
    ['with a hash of its own', (_, other) => hash('sha256', other).digest('hex')],
    ['that is the same for all', () => createRng('token').int(1, 99_999_999)],
  ])('finds nothing in a token %s', async (_, tokenOf) => {
    expect(await found(lock(tokenOf), 'non-interference')).toEqual([])
  })

  it.each([
    ['depends on what is hidden', ['tools-differ:agent'], true],
    ['depends on what is seen alone', [], false],
  ])('finds a list of tools that %s', async (_, expected, leaks) => {
    const environment = defineEnvironment({
      name: 'box',
      version: '1.0.0',
      description: 'A box that can be shaken, and then opened.',
      state: { public: z.object({ shaken: z.int() }), private: z.object({ full: z.boolean() }) },
      limits: { steps: 20 },
      start: ({ rng }) => ({ public: { shaken: 0 }, private: { full: rng.chance() } }),
      observe: ({ shaken }) => `Shaken ${shaken} times.`,
      offers: ({ public: { shaken }, private: { full } }) =>
        shaken > 2 && (full || !leaks) ? ['shake', 'open'] : ['shake'],
      tools: ({ tool }) => ({
        shake: tool({
          description: 'Shake it.',
          input: z.object({}),
          play({ state, say }) {
            state.public.shaken += 1
            return say('It makes no sound.')
          },
        }),
        open: tool({ description: 'Open it.', input: z.object({}), play: ({ say }) => say('It is stuck.') }),
      }),
      rewards: {},
    })
    expect(await found({ environment }, 'non-interference')).toEqual(expected)
  })
})
