import { connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { type Channel, META, METHODS, type OpenResult, type Step } from '@episodic/protocol'
import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { environment as ledger } from '../worlds/ledger-world.ts'
import { countsHold, Oracle, strangersIn } from './oracle.ts'

const add = (amount: number) => ({ tool: 'add', arguments: { amount } })

describe('Oracle', () => {
  let oracle: Oracle
  let channel: Channel
  let exchanges: { request: string; status: number; reply: string }[]
  let id: string
  /** Plays a step, and reports the received step to the oracle; `alter` changes it first. */
  let play: (amount: number, alter?: (step: Step) => Step) => Promise<void>
  let close: () => Promise<void>
  let store: SessionStore

  beforeEach(async () => {
    oracle = new Oracle()
    exchanges = []
    store = createMemoryStore()
    const host = createHost({ environments: [ledger], store })
    channel = inProcess(host)
    const recorded: Channel = {
      async request(method, params, options) {
        const result = await channel.request(method, params, options)
        exchanges.push({ request: JSON.stringify({ method, params }), status: 200, reply: JSON.stringify({ result }) })
        oracle.record(exchanges.at(-1) as (typeof exchanges)[number])
        return result
      },
      close: async () => {},
    }
    const connection = await connect(recorded)
    const environment = connection.environment()
    id = (await environment.reset({ params: { rows: 200 } })).info.id as string
    play = async (amount, alter = (step) => step) => {
      oracle.asks(id)
      oracle.receives(id, add(amount), alter(await environment.step(add(amount))))
    }
    close = async () => host[Symbol.asyncDispose]()
    await play(3)
    await play(4)
  })
  afterEach(() => close())

  const ask = <T>(method: string, params: object) => channel.request(method, { ...params }) as Promise<T>
  const settle = () => oracle.settle(ask)
  /** Asks a server that has one account of every state otherwise. */
  const askForgetful: typeof ask = async <T>(method: string, params: object) => {
    const text = JSON.stringify(await ask(method, params))
    return JSON.parse(text.replace('"balance":3', '"balance":0')) as T
  }
  const handle = () =>
    (JSON.parse(exchanges.find(({ request }) => request.includes(METHODS.open))?.reply ?? '').result as OpenResult)
      .session
  const step = (amount: number, seq: number) =>
    channel.request('tools/call', {
      name: 'add',
      arguments: { amount },
      _meta: { [META.session]: handle(), [META.seq]: seq },
    })

  it('finds nothing if every guarantee holds', async () => {
    await settle()
    expect(oracle.breaches).toEqual([])
    expect(oracle).toMatchObject({ received: 2, sessions: 1, inFlight: 0 })
  })

  it('accepts a step that its player asked for and did not receive yet', async () => {
    oracle.asks(id)
    await step(5, 2)
    await settle()
    expect(oracle.breaches).toEqual([])
  })

  it('finds a step that no player asked for (O1)', async () => {
    await step(4, 2)
    await settle()
    expect(oracle.broken).toMatchObject({ lost: 0, doubled: 1 })
  })

  it('finds a step that is gone (O1)', async () => {
    await play(5, (step) => {
      // One step more than the log has: as if the server had lost it since.
      oracle.asks(id)
      oracle.receives(id, add(5), step)
      return { ...step, info: { ...step.info, seq: 4 } }
    })
    await settle()
    expect(oracle.broken).toMatchObject({ lost: 1, doubled: 0 })
  })

  it('finds a step that differs from what its player received (O1)', async () => {
    await play(5, (step) => ({ ...step, observation: { ...step.observation, text: 'Nothing.' } }))
    await settle()
    expect(oracle.broken.lost).toBe(1)
  })

  it('finds an answer that was repeated with other bytes (O2)', () => {
    const { request, status, reply } = exchanges.at(-1) as (typeof exchanges)[number]
    oracle.record({ request, status, reply })
    expect(oracle.breaches).toEqual([])
    oracle.record({ request, status, reply: reply.replace('a total of 7', 'a total of 8') })
    expect(oracle.broken.unstable).toBe(1)
  })

  it('finds an opening that was answered with two sessions (O2)', () => {
    const { request, status, reply } = exchanges.find((exchange) =>
      exchange.request.includes(METHODS.open),
    ) as (typeof exchanges)[number]
    oracle.record({ request, status, reply: reply.replaceAll(id, 'another-session') })
    expect(oracle.broken.unstable).toBe(1)
  })

  it('finds a player whose rewards have another sum (O3)', async () => {
    await play(5, (step) => ({ ...step, reward: { ...step.reward, total: 6 } }))
    await settle()
    expect(oracle.broken).toMatchObject({ lost: 0, wrongSums: 1 })
  })

  it('finds a state that its steps do not make of a plain object (O5)', async () => {
    await oracle.settle(askForgetful)
    expect(oracle.broken).toMatchObject({ lost: 0, wrongSums: 0, wrongStates: 1 })
  })

  it('forks and closes every session, which leaves no session and no page behind (O7)', async () => {
    await settle()
    const during: number[] = []
    await oracle.closeAll(ask, async () => void during.push(await store.count(), await store.countPages()))
    expect(during).toEqual([1, expect.any(Number)])
    expect(during[1]).toBeGreaterThan(0)
    expect([await store.count(), await store.countPages()]).toEqual([0, 0])
    expect(oracle.breaches).toEqual([])
  })

  it('finds a fork that loses what it shares with the closed session (O5)', async () => {
    await settle()
    await oracle.closeAll(askForgetful, async () => {})
    // Before it plays on, and after that.
    expect(oracle.broken).toMatchObject({ wrongStates: 2 })
  })
})

describe('the invariants of runs and principals', () => {
  it('counts every episode once (O4)', () => {
    expect(countsHold({ scheduled: 6, finished: 3, failed: 2, unresolved: 1 })).toBe(true)
    expect(countsHold({ scheduled: 6, finished: 3, failed: 2, unresolved: 2 })).toBe(false)
  })

  it('finds the marks of others (O6)', () => {
    expect(strangersIn('mark-a mark-b mark-a', 'mark-a', /mark-\w/g)).toEqual(['mark-b'])
  })
})
