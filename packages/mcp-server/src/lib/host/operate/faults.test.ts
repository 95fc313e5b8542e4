import { DEFAULT_SEAT, WireError } from '@episodic/protocol'
import { StateError } from '@episodic/state'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createDispatcher } from '../../dispatch/dispatcher.ts'
import { inProcess } from '../../dispatch/in-process.ts'
import { readMessage } from '../../dispatch/message.ts'
import { defineEnvironment } from '../../environment/definition/define-environment.ts'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { asking, call, createTestHost } from '../../fixtures/testbed.fixture.ts'
import { TRADE_SECRET } from '../../fixtures/workshop.fixture.ts'
import { ServerError } from '../../server-error.ts'

/** What a world may throw. Reading some of these values throws again, and some would end the process if not caught. */
const MISSILES: readonly (readonly [string, () => unknown])[] = [
  [
    'an error with odd fields',
    () => Object.assign(new Error(TRADE_SECRET), { details: TRADE_SECRET, code: 'unauthorized' }),
  ],
  ['a text', () => TRADE_SECRET],
  ['a huge message', () => new Error(TRADE_SECRET.repeat(100_000))],
  [
    'a chain of causes',
    () => new Error('Outside.', { cause: new Error('Inside.', { cause: new Error(TRADE_SECRET) }) }),
  ],
  ['a circle of causes', () => Object.assign(circle, { cause: circle })],
  ['an error whose message throws', () => throwing(new Error(''), 'message')],
  ['an error whose stack throws', () => throwing(new Error(TRADE_SECRET), 'stack')],
  ['an error with a field that throws', () => throwing(new Error(TRADE_SECRET), 'extra')],
  [
    'an error whose message is not a string',
    () => Object.assign(new Error(''), { message: { toString: () => TRADE_SECRET } }),
  ],
  ['something that cannot be looked at', () => new Proxy({}, { getPrototypeOf: () => fail(), get: () => fail() })],
  ['an object without a text', () => Object.create(null)],
  ['a promise', () => Promise.resolve(TRADE_SECRET)],
  ['a promise that fails', () => Promise.reject(new Error(TRADE_SECRET))],
  ['null', () => null],
  ['nothing', () => undefined],
  ['a symbol', () => Symbol(TRADE_SECRET)],
  ['a refusal of the wire', () => new WireError('invalid-params', TRADE_SECRET, { details: { leaked: TRADE_SECRET } })],
  ['a refusal of a session', () => new StateError('episode-ended', TRADE_SECRET)],
  [
    'the host’s own fault',
    () => new WireError('environment-failed', TRADE_SECRET, { details: { reference: TRADE_SECRET } }),
  ],
  ['an error of ours', () => new ServerError('rules-failed', TRADE_SECRET)],
]
const circle = new Error(TRADE_SECRET)

function fail(): never {
  throw new Error(TRADE_SECRET)
}

function throwing(error: Error, key: string): Error {
  return Object.defineProperty(error, key, { get: fail, enumerable: true })
}

/** A world that throws what it is handed. */
function bomb(part: 'play' | 'observe' | 'reward' | 'potential' | 'start' | 'answer', missile: () => unknown) {
  let armed = false
  const explode = (here: typeof part): void => {
    if (armed && here === part) throw missile()
  }
  return {
    environment: defineEnvironment({
      name: 'bomb',
      version: '1.0.0',
      description: 'Throws.',
      params: z.object({}),
      state: { public: z.object({}), private: z.object({}) },
      start() {
        explode('start')
        return { public: {}, private: {} }
      },
      observe() {
        explode('observe')
        return 'Quiet.'
      },
      tools: ({ tool }) => ({
        light: tool({
          description: 'Lights it.',
          input: z.object({}),
          play({ say }) {
            explode('play')
            return armed && part === 'answer' ? (missile() as never) : say('Lit.')
          },
        }),
      }),
      rewards: {
        boom() {
          explode('reward')
          return 0
        },
      },
      potential() {
        explode('potential')
        return 0
      },
    }),
    arm() {
      armed = true
    },
  }
}

describe.each(MISSILES)('a world that throws %s', (_, missile) => {
  it.each(['play', 'observe', 'reward', 'potential', 'answer'] as const)(
    'in %s shows an agent only a reference',
    async (part) => {
      const { environment, arm } = bomb(part, missile)
      const { host, faults } = createTestHost({ environments: [environment] })
      const { seats, session } = await host.open(null, asking({ environment: 'bomb' }))
      const capability = seats[DEFAULT_SEAT]?.capability as string
      const caller = { endpoint: 'agent', principal: null, address: { by: 'capability', token: capability } } as const
      arm()
      const params = { name: 'light', arguments: {} }
      const failure = (reference: unknown) => ({
        isError: true,
        content: [
          { type: 'text', text: `The environment failed, and the call changed nothing. Reference: ${reference}.` },
        ],
      })
      const message = readMessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
      const { text } = await createDispatcher(host).dispatch(caller, message)
      expect(JSON.parse(text as string)).toEqual({ jsonrpc: '2.0', id: 1, result: failure(faults.at(-1)?.reference) })
      const sameProcess = await inProcess(host, caller).request('tools/call', params)
      expect(sameProcess).toEqual(failure(faults.at(-1)?.reference))
      expect(faults).toHaveLength(2)
      // At the trainer endpoint the author of the world can read what it threw, if that can be converted to text.
      const thrown = await atControl(host, session)
        .step(call('light'))
        .catch((error) => error)
      expect(thrown).toMatchObject({ code: 'environment-failed', details: { reference: faults.at(-1)?.reference } })
      expect(thrown.message.length).toBeLessThan(2_000)
      for (const { cause } of faults) expect(() => String((cause as Error).stack)).not.toThrow()
    },
  )

  it('at the start opens no session for a plain client, and says as little', async () => {
    const { environment, arm } = bomb('start', missile)
    const { host } = createTestHost({ environments: [environment] })
    const world = { by: 'transport', token: await host.connections.issue(null), environment: 'bomb' } as const
    const caller = { endpoint: 'agent', principal: null, address: world } as const
    arm()
    const params = { name: 'light', arguments: {} }
    const message = readMessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const { text } = await createDispatcher(host).dispatch(caller, message)
    expect(text).toContain('The environment failed')
    expect(text).not.toContain(TRADE_SECRET)
  })
})

describe('a world that leaves what cannot be kept', () => {
  const pollute = () => Object.assign(Object.prototype, { polluted: 'by a world' })
  const shout = (bytes: number) => call('shout', { bytes }, 0)
  const open = async (bounds = {}) => {
    const environment = defineEnvironment({
      name: 'unkeepable',
      version: '1.0.0',
      description: 'Leaves what cannot be kept.',
      params: z.object({}),
      state: { public: z.object({}), private: z.object({}) },
      limits: { bytes: 60_000_000 },
      start: () => ({ public: {}, private: {} }),
      observe: () => '',
      tools: ({ tool }) => ({
        pollute: tool({
          description: 'Adds a key to all objects.',
          input: z.object({ fails: z.boolean() }),
          play({ input, say }) {
            pollute()
            if (input.fails) fail()
            return say('Left.')
          },
        }),
        shout: tool({
          description: 'Says a long text.',
          input: z.object({ bytes: z.int() }),
          play: ({ input, say }) => say('y'.repeat(input.bytes)),
        }),
      }),
      rewards: {},
    })
    const { host } = createTestHost({ environments: [environment], bounds })
    const { session } = await host.open(null, asking({ environment: 'unkeepable' }))
    // What addresses a session answers every name, so that it may not be awaited.
    return { at: atControl(host, session) }
  }

  it.each([false, true])(
    'loses a key that it added to all objects, and the call (it throws too: %s)',
    async (fails) => {
      const { at } = await open()
      const message = expect.stringContaining('added "polluted" to Object.prototype')
      await expect(at.step(call('pollute', { fails }, 0))).rejects.toMatchObject({
        code: 'environment-failed',
        message,
      })
      expect(Reflect.has({}, 'polluted')).toBe(false)
      expect((await at.state()).revision).toBe(0)
      await at.step(shout(1))
    },
  )

  it('fails a call whose text is longer than the host takes, and plays one that is not', async () => {
    const { at } = await open()
    const message = expect.stringContaining('The text of the answer has 262145 bytes, and the limit is 262144.')
    await expect(at.step(shout(262_145))).rejects.toMatchObject({ code: 'environment-failed', message })
    expect((await at.state()).revision).toBe(0)
    expect((await at.step(shout(262_144))).step.observation.text).toHaveLength(262_144)
    const raised = await open({ textBytes: 1_000_000 })
    await raised.at.step(shout(900_000))
  })
})
