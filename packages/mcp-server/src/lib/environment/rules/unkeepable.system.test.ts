import { DEFAULT_SEAT, METHODS } from '@episodic/protocol'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { inProcess } from '../../dispatch/in-process.ts'
import { atControl } from '../../fixtures/addressed.fixture.ts'
import { numberGuessing } from '../../fixtures/number-guessing.fixture.ts'
import { asking, call, createTestHost, freshKey } from '../../fixtures/testbed.fixture.ts'
import { unkeepable } from '../../fixtures/unkeepable.fixture.ts'
import { createWorkerPool } from '../../workers/worker-pool.ts'

const PLACES = {
  'in the process': () => ({}),
  'in threads'() {
    const modules = ['unkeepable', 'number-guessing'].map(
      (name) => new URL(`../../fixtures/${name}.fixture.ts`, import.meta.url).href,
    )
    const rules = createWorkerPool({ modules })
    onTestFinished(() => rules[Symbol.asyncDispose]())
    return { rules }
  },
}

afterEach(() => {
  // biome-ignore lint/suspicious/noExplicitAny: what a world would have left
  expect(({} as any).polluted).toBeUndefined()
})

describe.each(Object.entries(PLACES))('what a world leaves and cannot be kept, %s', (_, rules) => {
  const open = async (bounds = {}) => {
    const { host, faults } = createTestHost({ environments: [unkeepable, numberGuessing], bounds, ...rules() })
    const { session, seats } = await host.open(null, asking({ environment: 'unkeepable' }))
    const capability = seats[DEFAULT_SEAT]?.capability as string
    const agent = inProcess(host, {
      endpoint: 'agent',
      principal: null,
      address: { by: 'capability', token: capability },
    })
    return { host, faults, session, agent }
  }

  it.each(['cycle', 'depth', 'getter', 'hostile getter', 'shared key', 'shared key and throw'])(
    'fails the call for a %s, changes nothing, and reports the fault with its cause',
    async (way) => {
      const { host, faults, session, agent } = await open()
      const error = await atControl(host, session)
        .step(call('leave', { way }, 0))
        .catch((error) => error)
      expect(error).toMatchObject({ code: 'environment-failed', details: { reference: faults[0]?.reference } })
      expect(await agent.request('tools/call', { name: 'leave', arguments: { way } })).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('The environment failed, and the call changed nothing.') }],
      })
      expect(faults).toHaveLength(2)
      const { state, seats } = await atControl(host, session).state()
      expect([state.public, seats]).toEqual([{ steps: 0 }, { [DEFAULT_SEAT]: { seq: 0 } }])
      const { step } = await atControl(host, session).step(call('shout', { bytes: 1 }, 0))
      expect(step.observation.structured).toEqual({ steps: 1 })
    },
  )

  it('fails a call whose text is longer than the host takes, and plays one that is not', async () => {
    const { host, faults, session, agent } = await open()
    const most = 262_144 - '\n1 steps.'.length
    await expect(atControl(host, session).step(call('shout', { bytes: most + 1 }, 0))).rejects.toMatchObject({
      code: 'environment-failed',
      message: expect.stringContaining('The text of the answer has 262145 bytes, and the limit is 262144.'),
    })
    expect(await agent.request('tools/call', { name: 'shout', arguments: { bytes: 30_000_000 } })).toMatchObject({
      isError: true,
      content: [{ text: `The environment failed, and the call changed nothing. Reference: ${faults[1]?.reference}.` }],
    })
    expect((await atControl(host, session).state()).revision).toBe(0)
    const { step } = await atControl(host, session).step(call('shout', { bytes: most }, 0))
    expect(step.observation.text).toHaveLength(262_144)
    const raised = await open({ textBytes: 1_000_000 })
    await atControl(raised.host, raised.session).step(call('shout', { bytes: 900_000 }, 0))
  })

  it('does not keep other worlds from being opened and played', async () => {
    const { host, session } = await open()
    await atControl(host, session)
      .step(call('leave', { way: 'shared key' }))
      .catch(() => {})
    const opened = (await inProcess(host).request(METHODS.open, {
      environment: 'number-guessing',
      requestKey: freshKey(),
    })) as { session: string }
    await atControl(host, opened.session).step(call('guess', { value: 1 }))
    await atControl(host, session).step(call('shout', { bytes: 1 }))
  })
})
