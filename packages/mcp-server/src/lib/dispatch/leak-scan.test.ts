import { PassThrough } from 'node:stream'
import { type Channel, DEFAULT_SEAT, META, METHODS, type OpenResult, WireError } from '@episodic/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { atControl } from '../fixtures/addressed.fixture.ts'
import {
  asking,
  controlHeaders,
  createTestHost,
  INITIALIZE,
  initialize,
  openOverHttp,
  rpc,
  serve,
} from '../fixtures/testbed.fixture.ts'
import { PASSWORD, rumour, vault } from '../fixtures/vault.fixture.ts'
import type { Caller } from '../host/access/caller.ts'
import { createMetrics } from '../host/operate/metrics.ts'
import { serveStdio } from '../stdio/serve-stdio.ts'
import { inProcess } from './in-process.ts'

const SEED = 'a-seed-like-no-other'

/** A host of the vault, with a session in it. */
async function openVault(params = {}) {
  const metrics = createMetrics()
  const testbed = createTestHost({ environments: [vault], metrics })
  const opened = await testbed.host.open(null, asking({ environment: 'vault', seed: SEED, params }))
  return { ...testbed, metrics, params, opened, capability: opened.seats[DEFAULT_SEAT]?.capability as string }
}
type Vault = Awaited<ReturnType<typeof openVault>>

/** Calls a tool; resolves with every byte of the answer that is for a player. */
type Ask = (tool: string, args?: object) => Promise<string>

/** Each endpoint at which a session can be played. */
const ENDPOINTS: Record<string, (vault: Vault) => Promise<Ask>> = {
  async 'a session URL'({ host, capability }) {
    const url = (await serve(host)).sessionUrl(capability)
    return async (name, args = {}) => (await rpc(url, 'tools/call', { name, arguments: args })).text
  },
  async 'plain MCP over HTTP'({ host }) {
    const { agentUrl } = await serve(host)
    const headers = await initialize(agentUrl)
    return async (name, args = {}) => (await rpc(agentUrl, 'tools/call', { name, arguments: args }, headers)).text
  },
  async 'a pipe'({ host }) {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const served = serveStdio(host, { input, output })
    onTestFinished(async () => {
      input.end()
      await served
    })
    const lines = output[Symbol.asyncIterator]()
    return async (name, args = {}) => {
      input.write(
        `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })}\n`,
      )
      return String((await lines.next()).value)
    }
  },
  async 'this process'({ host, capability }) {
    const channel = inProcess(host, {
      endpoint: 'agent',
      principal: null,
      address: { by: 'capability', token: capability },
    })
    return askChannel(channel, {})
  },
  async 'the trainer endpoint in this process'({ host, opened }) {
    return askChannel(inProcess(host), { [META.session]: opened.session })
  },
  async 'the trainer endpoint over HTTP'(vault) {
    const server = await serve(vault.host)
    // A session belongs to the client that opened it.
    vault.opened = await openOverHttp(server, { environment: 'vault', seed: SEED, params: vault.params })
    return async (name, args = {}) => {
      const params = { name, arguments: args, _meta: { [META.session]: vault.opened.session } }
      return (await rpc(server.trainerUrl, 'tools/call', params, controlHeaders(server))).text
    }
  },
}

function askChannel(channel: Channel, _meta: Record<string, string>): Ask {
  return (name, args = {}) =>
    channel.request('tools/call', { name, arguments: args as Record<string, string>, _meta }).then(
      (result) => JSON.stringify(result),
      (error) =>
        WireError.is(error) ? `${error.code} ${error.message} ${JSON.stringify(error.details)} ${error.cause}` : 'raw',
    )
}

/** Whether a text contains the password. */
function containsPassword(text: string): boolean {
  return /sesame/.test(text)
}

describe.each(Object.entries(ENDPOINTS))('the scanner of %s', (endpoint, openEndpoint) => {
  it('withholds an answer with a declared secret in any part', async () => {
    const vault = await openVault()
    const ask = await openEndpoint(vault)
    for (const where of ['text', 'structured', 'refusal', 'observation', 'json']) {
      const text = await ask('blab', { where })
      expect(containsPassword(text)).toBe(false)
      const { reference, environment, session, cause } = vault.faults.at(-1) ?? {}
      expect(text).toContain(
        endpoint.startsWith('the trainer')
          ? 'The environment vault failed: An answer of vault was withheld: it had a text that the world declares to be secret'
          : `The server failed. Reference: ${reference}.`,
      )
      expect(text).toContain(reference)
      expect([environment, session]).toEqual(['vault', expect.stringMatching(/^[\w-]{22}$/)])
      expect(cause).toMatchObject({ code: 'secret-leaked', message: expect.stringContaining('declares to be secret') })
      expect(containsPassword(String(cause))).toBe(false)
    }
    expect(vault.faults).toHaveLength(5)
    expect(vault.metrics.render({ sessions: 1, calls: 0 })).toContain(
      'episodic_leaks_total{environment="vault",secret="declared"} 5\n',
    )
  })

  it('returns what an agent said itself, so that an answer does not show whether a guess was right', async () => {
    const vault = await openVault()
    const ask = await openEndpoint(vault)
    for (const text of [PASSWORD, 'open "salami"\nnow']) expect(await ask('repeat', { text })).toContain('Closed.')
    // The refusal repeats the name of an unknown tool.
    expect(await ask(PASSWORD)).toContain('There is no tool')
    expect(vault.faults).toEqual([])
  })

  it('returns what is no longer a secret', async () => {
    const ask = await openEndpoint(await openVault())
    expect(await ask('try', { word: 'abracadabra' })).toContain('It stays closed.')
    expect(containsPassword(await ask('try', { word: PASSWORD }))).toBe(true)
  })
})

describe('a declared word that is one of the protocol’s own', () => {
  const ours = ['structuredContent', 'description', 'inputSchema', 'serverInfo']

  it.each(ours)('withholds no answer: %s', async (password) => {
    const { host, capability, faults } = await openVault({ password })
    const url = (await serve(host)).sessionUrl(capability)
    for (const method of ['tools/list', 'ping']) expect((await rpc(url, method, {})).json.error).toBeUndefined()
    await initialize(url)
    const { json } = await rpc(url, 'tools/call', { name: 'repeat', arguments: { text: 'Hello.' } })
    expect(json.result?.structuredContent).toMatchObject({ sign: 'Closed.', open: false })
    expect(faults).toEqual([])
  })

  it.each(ours)('is searched for in what the world returns: %s', async (password) => {
    const { host, capability, faults } = await openVault({ password })
    const url = (await serve(host)).sessionUrl(capability)
    for (const where of ['text', 'structured', 'refusal', 'observation', 'json']) {
      const { json } = await rpc(url, 'tools/call', { name: 'blab', arguments: { where } })
      expect(json.error).toMatchObject({ message: expect.stringMatching(/^The server failed/) })
    }
    expect(faults).toHaveLength(5)
  })
})

describe('the instructions over HTTP', () => {
  it('are withheld if the text of the world in them contains a declared secret', async () => {
    const { host, capability, faults } = await openVault()
    const url = (await serve(host)).sessionUrl(capability)
    expect((await rpc(url, 'initialize', INITIALIZE)).json.result).toBeDefined()
    // The answer is withheld, and the state has the password from now on.
    await rpc(url, 'tools/call', { name: 'blab', arguments: { where: 'observation' } })
    const { text } = await rpc(url, 'initialize', INITIALIZE)
    expect(JSON.parse(text)).toMatchObject({ error: { message: expect.stringMatching(/^The server failed/) } })
    expect(containsPassword(text)).toBe(false)
    expect(faults).toHaveLength(2)
  })
})

/** The endpoints of the very session that was opened. */
const SAME_SESSION = Object.entries(ENDPOINTS).filter(([name]) => !['plain MCP over HTTP', 'a pipe'].includes(name))

describe.each(SAME_SESSION)('the scanner of %s, over a session of one’s own,', (endpoint, openEndpoint) => {
  const isTrainer = endpoint.startsWith('the trainer')

  it('withholds the answer if a world cannot list its secrets', async () => {
    const vault = await openVault({ unlistable: true })
    const ask = await openEndpoint(vault)
    const text = await ask('repeat', { text: 'Hello.' })
    // A trainer may know the secrets.
    expect(text).toContain(isTrainer ? 'The environment vault failed: `secrets` of vault threw' : 'The server failed.')
    expect(containsPassword(text)).toBe(isTrainer)
    expect(vault.faults).toMatchObject([{ cause: { message: expect.stringContaining('cannot be listed') } }])
  })

  it.each([
    ['its seed', ({ seed }: OpenResult) => seed],
    ['its control handle', ({ session }: OpenResult) => session],
  ])('lets out nothing of %s', async (_, secretOf) => {
    const vault = await openVault()
    const ask = await openEndpoint(vault)
    rumour.text = 'It is going to rain.'
    expect(await ask('gossip')).toContain(rumour.text)
    rumour.text = `They say ${secretOf(vault.opened)}, and no more.`
    const text = await ask('gossip')
    expect(text).toContain(isTrainer ? 'An answer of vault was withheld' : 'The server failed.')
    expect(text).not.toContain(secretOf(vault.opened))
    expect(vault.faults).toMatchObject([{ session: vault.opened.id, cause: { code: 'secret-leaked' } }])
  })
})

describe('the scanner', () => {
  it('covers a plain client’s session too, whose id and handles were never returned', async () => {
    const { host, faults } = await openVault()
    const { agentUrl } = await serve(host)
    const headers = await initialize(agentUrl)
    const gossip = () => rpc(agentUrl, 'tools/call', { name: 'gossip', arguments: {} }, headers)
    rumour.text = 'Nothing.'
    await gossip()
    const { sessions } = await host.list({ limit: 10 })
    rumour.text = sessions.map(({ id }) => id).join(' and ')
    expect((await gossip()).json.error).toMatchObject({ message: expect.stringMatching(/^The server failed/) })
    expect(faults).toMatchObject([{ cause: { message: expect.stringContaining("the session's id") } }])
  })

  it('looks only at what a policy sees, at the trainer endpoint', async () => {
    const { host, opened, faults } = await openVault()
    const endpoint = inProcess(host)
    const { session } = opened
    expect(JSON.stringify(await endpoint.request(METHODS.state, { session }))).toContain('sesame')
    expect(await endpoint.request(METHODS.watch, { session })).toEqual({ steps: [], end: null })
    expect(faults).toEqual([])
  })

  it('keeps the step that it withholds the answer of, whose retry is withheld as well', async () => {
    const { host, opened, faults } = await openVault()
    const endpoint = inProcess(host)
    const _meta = { [META.session]: opened.session, [META.seq]: 0 }
    const blab = () => endpoint.request('tools/call', { name: 'blab', arguments: { where: 'observation' }, _meta })
    await expect(blab()).rejects.toMatchObject({ code: 'environment-failed' })
    await expect(blab()).rejects.toMatchObject({ code: 'environment-failed' })
    expect(faults).toHaveLength(2)
    const { seats, state } = await atControl(host, opened.session).state()
    expect(seats[DEFAULT_SEAT]?.seq).toBe(1)
    expect(containsPassword(String(state.public.sign))).toBe(true)
  })

  it('returns nothing about another session to a client that only guesses its name', async () => {
    const { host, opened, capability, faults } = await openVault()
    const guessed = `${capability.slice(0, -1)}${capability.endsWith('A') ? 'B' : 'A'}`
    const caller: Caller = { endpoint: 'agent', principal: null, address: { by: 'capability', token: guessed } }
    const texts = await Promise.all(
      [opened.seed, PASSWORD, 'anything else'].map((name) => askChannel(inProcess(host, caller), {})(name)),
    )
    expect(new Set(texts).size).toBe(1)
    expect(faults).toEqual([])
  })
})
