import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createHost } from '@episodic/mcp-server'
import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { answered, NemoGymClient, row } from '../fixtures/nemo-gym-client.fixture.ts'
import { numberGuessing } from '../fixtures/number-guessing.fixture.ts'
import { serveNemoGym } from './serve-nemo-gym.ts'

/** A memory store whose commits can be held up. */
function createHeldStore() {
  const store = createMemoryStore()
  let gate: PromiseWithResolvers<void> | null = null
  let reached = Promise.withResolvers<void>()
  const commit: SessionStore['commit'] = async (...args) => {
    reached.resolve()
    await gate?.promise
    return store.commit(...args)
  }
  return {
    store: new Proxy(store, {
      get: (_, name: keyof SessionStore) => (name === 'commit' ? commit : store[name].bind(store)),
    }),
    /** Holds commits up, and resolves when there is one. The returned function lets them go on. */
    async hold(): Promise<() => void> {
      gate = Promise.withResolvers()
      reached = Promise.withResolvers()
      const { resolve } = gate
      return () => {
        gate = null
        resolve()
      }
    },
    reached: () => reached.promise,
  }
}

/** A server, and another one on the same store in its place. */
async function serveTwice() {
  const { store, ...held } = createHeldStore()
  const serve = async () => {
    const host = createHost({ environments: [numberGuessing], store })
    const server = await serveNemoGym(host)
    const stop = async () => {
      await server[Symbol.asyncDispose]()
      await host[Symbol.asyncDispose]()
    }
    onTestFinished(stop)
    return { host, server, stop }
  }
  return { serve, ...held }
}

/** Writes a request by hand, so that its connection can be cut. */
async function send(port: number, path: string, cookie: string, body: object): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const text = JSON.stringify(body)
  socket.write(
    `POST /${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  )
  return socket
}

const GUESS = { value: 500 }

describe('a tool call whose answer got lost', () => {
  it.each([
    ['that returns cookies', true],
    ['that returns only its first cookie', false],
  ])('is answered from the stored step, for a client %s', async (_, returnsCookies) => {
    const { serve, hold, reached } = await serveTwice()
    const { server } = await serve()
    const agent = new NemoGymClient(server.origin)
    await agent.post('seed_session', row())
    if (returnsCookies) await agent.post('guess', { value: 501 })
    const letGo = await hold()
    const socket = await send(server.port, 'guess', agent.cookie, GUESS)
    await reached()
    // Reset: the server learns of it while the step is still being stored.
    socket.resetAndDestroy()
    await once(socket, 'close')
    const repeated = agent.post('guess', GUESS)
    letGo()
    expect(await repeated).toMatchObject({ status: 200 })
    const values = returnsCookies ? [501, 500] : [500]
    const { body } = await agent.post('verify', answered(values))
    expect(body).toMatchObject({ steps: values.length, mask_sample: false })
  })

  it('is masked where it was taken for the wrong one', async () => {
    const { serve } = await serveTwice()
    const { server, stop } = await serve()
    const agent = new NemoGymClient(server.origin)
    await agent.post('seed_session', row())
    await agent.post('guess', GUESS, { keeps: false })
    await stop()
    // This client returns no cookies, and nothing says whether it has read the answer.
    const successor = new NemoGymClient((await serve()).server.origin)
    successor.cookie = agent.cookie
    await successor.post('guess', GUESS, { keeps: false })
    expect((await successor.post('verify', answered([500, 500]))).body).toMatchObject({
      steps: 1,
      mask_sample: true,
      failure_kind: 'transport_peer_drop',
    })
  })
})

describe('a turn of the Gymnasium profile whose answer got lost', () => {
  it('goes on where it was interrupted', async () => {
    const { serve } = await serveTwice()
    const { server, host } = await serve()
    const agent = new NemoGymClient(server.origin)
    await agent.post('reset', row())
    await agent.post('step', { ...answered([501]), _ng_step_request_id: 'a'.repeat(32) })
    // The first call of the next turn was played by a server that ended before the second.
    const handle = /ctl_[\w-]+/.exec(agent.cookie)?.[0] as string
    const ref = await host.resolve(null, { by: 'control', token: handle })
    await ref.step({ action: { tool: 'guess', arguments: { value: 500 } }, seq: 1 })
    const successor = new NemoGymClient((await serve()).server.origin)
    successor.cookie = agent.cookie
    const turn = { ...answered([500, 502]), _ng_step_request_id: 'b'.repeat(32) }
    expect((await successor.post('step', turn)).body.reward).toBeCloseTo(-0.02)
    expect(successor.cookie).toMatch(/\.3$/)
  })
})

describe('an answer of verify that got lost', () => {
  it('is the same when it is asked for again', async () => {
    const { serve } = await serveTwice()
    const agent = new NemoGymClient((await serve()).server.origin)
    await agent.post('seed_session', row())
    await agent.post('guess', GUESS)
    const both = [await agent.post('verify', answered([500])), await agent.post('verify', answered([500]))]
    expect(both[1]).toEqual(both[0])
  })
})
