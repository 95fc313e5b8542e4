import { WireError, type WireErrorCode } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { numberGuessing } from '../../fixtures/number-guessing.fixture.ts'
import { asking, call, createTestHost, freshKey } from '../../fixtures/testbed.fixture.ts'
import { createHost } from '../create-host.ts'

/** What a rejected call says of itself. */
async function refusalOf(call: Promise<unknown>): Promise<WireError> {
  const error = await call.then(
    () => null,
    (error: unknown) => error,
  )
  if (WireError.is(error)) return error
  throw new Error(`This is not a protocol error: ${error}`)
}
const codeOf = async (call: Promise<unknown>): Promise<WireErrorCode> => (await refusalOf(call)).code

describe('Host.open', () => {
  it('opens once for one request key, and returns the same answer each time, before and after steps', async () => {
    const { host } = createTestHost()
    const request = asking()
    const first = await host.open('trainer', request)
    expect(await host.open('trainer', request)).toEqual(first)
    await atControl(host, first.session, 'trainer').step(call('guess', { value: 1 }))
    expect(await host.open('trainer', request)).toEqual(first)
    expect((await host.list({ limit: 10 })).total).toBe(1)
  })

  it('opens once for one request key when raced', async () => {
    const { host } = createTestHost()
    const request = asking()
    const opened = await Promise.all(Array.from({ length: 20 }, () => host.open(null, request)))
    expect(new Set(opened.map((result) => JSON.stringify(result))).size).toBe(1)
    expect((await host.list({ limit: 10 })).total).toBe(1)
  })

  it('opens another session for the same key of another principal', async () => {
    const { host } = createTestHost()
    const request = asking()
    const ids = await Promise.all([null, '', 'a', 'b'].map(async (who) => (await host.open(who, request)).id))
    expect(new Set(ids).size).toBe(4)
  })

  it('refuses a key that has opened another environment', async () => {
    const { host } = createTestHost()
    const requestKey = freshKey()
    await host.open(null, asking({ requestKey }))
    expect(await codeOf(host.open(null, asking({ requestKey, environment: 'workshop' })))).toBe('invalid-params')
  })

  it('refuses what is not served, and says what is', async () => {
    const { host } = createTestHost()
    const unknown = await refusalOf(host.open(null, asking({ environment: 'chess' })))
    expect(unknown.code).toBe('unknown-environment')
    expect(unknown.message).toContain('There is: number-guessing, workshop.')
    const old = await refusalOf(host.open(null, asking({ version: '0.9.0' })))
    expect(old.code).toBe('unknown-environment')
    expect(old.message).toContain('version 1.0.0, and version 0.9.0 was asked for')
    expect((await host.open(null, asking({ version: '1.0.0' }))).environment.version).toBe('1.0.0')
  })

  it('refuses wrong parameters, names them, and keeps nothing', async () => {
    const { host, faults } = createTestHost()
    const refusal = await refusalOf(host.open(null, asking({ params: { maxGuesses: 'many' } })))
    expect(refusal.code).toBe('invalid-params')
    expect(refusal.message).toContain('maxGuesses: Invalid input: expected number, received string')
    expect(faults).toEqual([])
    expect((await host.list({ limit: 10 })).total).toBe(0)
  })

  describe('at capacity', () => {
    it('rejects with a retry time, and evicts no session', async () => {
      const { host } = createTestHost({ bounds: { sessions: 2, idleSeconds: 20 } })
      const first = await host.open(null, asking())
      const second = await host.open(null, asking())
      const refusal = await refusalOf(host.open(null, asking()))
      expect(refusal.code).toBe('capacity')
      expect(refusal.details).toEqual({ retryAfterSeconds: 20 })
      for (const { session } of [first, second])
        expect((await atControl(host, session).step(call('guess', { value: 1 }))).replayed).toBe(false)
      await atControl(host, first.session).close()
      expect((await host.open(null, asking())).id).not.toBe(first.id)
    })
  })
})

describe('createHost', () => {
  it('says what it serves', () => {
    const { host } = createTestHost()
    expect(host.environments.map(({ name, terms, potential }) => ({ name, terms, potential }))).toEqual([
      { name: 'number-guessing', terms: ['jackpot', 'toll'], potential: true },
      { name: 'workshop', terms: ['thrift'], potential: false },
    ])
    expect(host.environments[1]?.limits.steps).toBe(13)
  })

  it.each([
    ['no environments', { environments: [] }],
    ['two of one name', { environments: [numberGuessing, numberGuessing] }],
    ['a bound of nothing', { environments: [numberGuessing], bounds: { sessions: 0 } }],
    ['a bound that is not a number', { environments: [numberGuessing], bounds: { idleSeconds: Number.NaN } }],
  ])('refuses %s', (_, options) => {
    expect(() => createHost(options)).toThrow(expect.objectContaining({ code: 'option-invalid' }))
  })
})
