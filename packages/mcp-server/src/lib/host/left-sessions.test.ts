import { createManualClock } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { defineEnvironment } from '../environment/definition/define-environment.ts'
import { atControl, atTransport } from '../fixtures/addressed.fixture.ts'
import { call, createTestHost, freshKey } from '../fixtures/testbed.fixture.ts'
import type { HostOptions } from './host.ts'

const NOT_FOUND = expect.objectContaining({ code: 'session-not-found' })
const LEFT = { tool: 'absent', arguments: { cause: 'left' } }

/** A world that judges what its player has left by `judge`, which is asked outside of the rules. */
function openGarden(options: Partial<HostOptions> = {}, judge: () => number | Promise<number> = () => 1) {
  let judged = 0
  const garden = defineEnvironment({
    name: 'garden',
    version: '1.0.0',
    description: 'Sow.',
    state: { public: z.object({ sown: z.int() }), private: z.object({ score: z.number() }) },
    start: () => ({ public: { sown: 0 }, private: { score: 0 } }),
    observe: ({ sown }) => `${sown} sown.`,
    tools: ({ tool }) => ({
      sow: tool({
        description: 'Sows.',
        input: z.object({}),
        play({ state, say }) {
          state.public.sown += 1
          return say('')
        },
      }),
      done: tool({
        description: 'Ends.',
        input: z.object({}),
        play({ end, say }) {
          end('done')
          return say('')
        },
      }),
    }),
    absent: ({ tool }) =>
      tool({
        description: 'Judges.',
        input: z.object({}),
        prepared: z.number(),
        async prepare() {
          judged += 1
          return await judge()
        },
        play({ state, prepared, say }) {
          state.private.score = prepared
          return say('')
        },
      }),
    rewards: { score: ({ before, after }) => after.private.score - before.private.score },
    success: ({ state }) => state.private.score >= 1,
  })
  const left: string[] = []
  const onLeft: HostOptions['onLeft'] = ({ session, step }) => left.push(`${session} ${step.report.terms.score}`)
  const testbed = createTestHost({ environments: [garden], bounds: { idleSeconds: 60 }, onLeft, ...options })
  const { host } = testbed
  return {
    ...testbed,
    left,
    judged: () => judged,
    async open() {
      const { id, session } = await host.open(null, { environment: 'garden', requestKey: freshKey() })
      return { id, ref: atControl(host, session) }
    },
  }
}

describe('a session that expires', () => {
  it('is judged once, and kept for as long again, so that the reward can be read', async () => {
    const { host, clock, left, judged, open } = openGarden()
    const { id, ref } = await open()
    await ref.step(call('sow'))
    clock.advance(61_000)
    await host.sweep()
    await expect.poll(() => left).toEqual([`${id} 1`])
    const { steps } = await ref.watch({ after: 0, limit: 10, wait: 0 })
    expect(steps).toMatchObject([
      { action: { tool: 'sow' }, report: { terms: { score: 0 }, end: null } },
      { action: LEFT, report: { terms: { score: 1 }, end: { kind: 'truncated', reason: 'closed' }, success: true } },
    ])
    await expect(ref.step(call('sow'))).rejects.toThrow(expect.objectContaining({ code: 'episode-ended' }))
    await expect(ref.step(call('sow', {}, 1))).rejects.toThrow(expect.objectContaining({ code: 'seq-reused' }))
    clock.advance(59_000)
    await host.sweep()
    expect((await host.list({ limit: 1 })).total).toBe(1)
    clock.advance(61_000)
    await host.sweep()
    await expect(ref.state()).rejects.toThrow(NOT_FOUND)
    expect([judged(), left.length]).toEqual([1, 1])
  })

  it('is answered with its last step if its trainer then closes it', async () => {
    const { host, clock, left, judged, open } = openGarden()
    const { ref } = await open()
    await ref.step(call('sow'))
    clock.advance(61_000)
    await host.sweep()
    await expect.poll(() => left.length).toBe(1)
    const step = { action: LEFT, report: { seq: 2, terms: { score: 1 } } }
    expect(await ref.close('if-played')).toMatchObject({ end: { reason: 'closed' }, success: true, step })
    expect([judged(), left.length]).toEqual([1, 1])
  })

  it('is not judged if nothing was played, or it had ended', async () => {
    const { host, clock, judged, open } = openGarden()
    await open()
    const ended = await open()
    await ended.ref.step(call('sow'))
    await ended.ref.step(call('done'))
    clock.advance(61_000)
    await host.sweep()
    expect((await host.list({ limit: 1 })).total).toBe(0)
    expect(judged()).toBe(0)
  })

  it('is removed where its world fails, which is reported', async () => {
    const { host, clock, faults, left, open } = openGarden({}, () => {
      throw new Error('The scales are broken.')
    })
    const { ref } = await open()
    await ref.step(call('sow'))
    clock.advance(61_000)
    await host.sweep()
    await expect.poll(() => host.list({ limit: 1 })).toEqual({ total: 0, sessions: [] })
    expect(faults).toMatchObject([{ cause: { cause: { message: 'The scales are broken.' } } }])
    expect(left).toEqual([])
  })

  it('goes on if its player calls while it begins to be judged', async () => {
    const { host, clock, judged, open } = openGarden()
    const { ref } = await open()
    await ref.step(call('sow'))
    clock.advance(61_000)
    const [, step] = await Promise.all([host.sweep(), ref.step(call('sow'))])
    expect(step.step.report).toMatchObject({ seq: 2, end: null })
    expect((await ref.step(call('sow'))).step.report).toMatchObject({ seq: 3, end: null })
    expect(judged()).toBe(0)
  })

  it('is judged once by the servers of one store, also where the one that played it is gone', async () => {
    const clock = createManualClock()
    const store = createMemoryStore()
    onTestFinished(() => store[Symbol.asyncDispose]())
    const first = openGarden({ clock, store })
    const { ref } = await first.open()
    await ref.step(call('sow'))
    const left = await first.open()
    await left.ref.step(call('sow'))
    // As after a kill: it sweeps no more.
    await first.host[Symbol.asyncDispose]()
    const [second, third] = [openGarden({ clock, store }), openGarden({ clock, store })]
    const both = () => [...second.left, ...third.left]
    await expect
      .poll(
        async () => {
          clock.advance(20_000)
          await Promise.all([second.host.sweep(), third.host.sweep()])
          return both().length
        },
        { interval: 1 },
      )
      .toBe(2)
    expect(new Set(both()).size).toBe(2)
    await expect
      .poll(
        async () => {
          clock.advance(20_000)
          await Promise.all([second.host.sweep(), third.host.sweep()])
          return store.count()
        },
        { interval: 1 },
      )
      .toBe(0)
    expect(both()).toHaveLength(2)
  })
})

describe('a session that is closed', () => {
  it('is judged if its agent closes it; the server keeps what it earned until it expires', async () => {
    const { host, left } = openGarden()
    const id = await host.connections.issue(null)
    const agent = atTransport(host, id, 'garden')
    await agent.step(call('sow'))
    expect(await agent.close()).toEqual({ end: { kind: 'truncated', reason: 'closed' } })
    expect(left).toHaveLength(1)
    const [listed] = (await host.list({ limit: 1 })).sessions
    const { log } = await host.dump({ id: listed?.id ?? '', after: 0, limit: 10, private: false })
    expect(log.at(-1)).toMatchObject({ action: LEFT, report: { terms: { score: 1 }, success: true } })
    await expect(agent.step(call('sow'))).rejects.toThrow(NOT_FOUND)
  })

  it('is closed all the same where its world fails', async () => {
    const { host, faults } = openGarden({}, () => {
      throw new Error('The scales are broken.')
    })
    const agent = atTransport(host, await host.connections.issue(null), 'garden')
    await agent.step(call('sow'))
    expect(await agent.close()).toEqual({ end: { kind: 'truncated', reason: 'closed' } })
    expect(faults).toHaveLength(1)
    await expect(agent.step(call('sow'))).rejects.toThrow(NOT_FOUND)
  })

  it('is not judged if its trainer gives it up', async () => {
    const { open, judged } = openGarden()
    const { ref } = await open()
    await ref.step(call('sow'))
    expect(await ref.close()).toMatchObject({ end: { reason: 'closed' }, success: false })
    expect(judged()).toBe(0)
  })
})
