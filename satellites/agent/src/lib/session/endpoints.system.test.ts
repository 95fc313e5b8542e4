import { fileURLToPath } from 'node:url'
import { createHost, defineEnvironment } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { ClientCredentialsProvider } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AgentError, createMcpSessions, type OAuthProvider, type OAuthTokens } from '../../index.ts'
import { serveGuarded } from '../fixtures/guarded-server.fixture.ts'
import { serveModern } from '../fixtures/modern-server.fixture.ts'

const failure = (promise: Promise<unknown>): Promise<AgentError> =>
  promise.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error) => error,
  )

describe('protocol versions', () => {
  it('prefers the session-based version with a server that supports both', async () => {
    const counter = defineEnvironment({
      name: 'counter',
      version: '1.0.0',
      description: 'Counts.',
      handle: false,
      params: z.object({}),
      state: { public: z.object({ count: z.int() }), private: z.object({}) },
      start: () => ({ public: { count: 0 }, private: {} }),
      observe: ({ count }) => String(count),
      tools: ({ tool }) => ({
        count: tool({
          description: 'Count.',
          input: z.object({}),
          play: ({ state, say }) => say(String(++state.public.count)),
        }),
      }),
      rewards: {},
    })
    await using server = await serveHttp(createHost({ environments: [counter] }), { port: 0 })
    await using sessions = createMcpSessions({
      mcpServers: { counter: { url: `http://127.0.0.1:${server.port}/mcp` } },
    })
    await using ada = await sessions.open('counter')
    await using bob = await sessions.open('counter')
    const counts = [await ada.callTool('count'), await ada.callTool('count'), await bob.callTool('count')]
    expect([ada.protocol, ...counts.map(({ text }) => text.split('\n')[0])]).toEqual(['legacy', '1', '2', '1'])
  })

  it('uses 2026-07-28 with a server that supports nothing else, which keeps its state by handles', async () => {
    await using server = await serveModern()
    await using sessions = createMcpSessions({ mcpServers: { counter: { url: server.url } } })
    await using session = await sessions.open('counter')
    const { text } = await session.callTool('create_counter')
    await session.callTool('count', { counter_id: text })
    expect((await session.callTool('count', { counter_id: text })).text).toBe('2')
    expect([session.protocol, await session.checkHealth()]).toEqual(['modern', 'open'])
  })

  it('uses it with a child too', async () => {
    const child = fileURLToPath(new URL('../fixtures/modern-child.fixture.ts', import.meta.url))
    await using sessions = createMcpSessions({ mcpServers: { child: { command: process.execPath, args: [child] } } })
    await using session = await sessions.open('child')
    const { text } = await session.callTool('ask')
    expect([session.protocol, text, await session.checkHealth()]).toEqual(['modern', 'yes', 'open'])
  })
})

describe('authorization', () => {
  it('takes a provider of the SDK, and renews its tokens when they are refused', async () => {
    await using server = await serveGuarded()
    const authorization = new ClientCredentialsProvider({
      clientId: 'ada',
      clientSecret: 'secret',
      expectedIssuer: new URL(server.url).origin,
    })
    await using sessions = createMcpSessions({ mcpServers: { guarded: { url: server.url, authorization } } })
    await using session = await sessions.open('guarded')
    expect((await session.callTool('ask')).text).toBe('yes')
    server.revoke()
    expect((await session.callTool('ask')).text).toBe('yes')
    expect(server.granted()).toEqual(['client_credentials', 'client_credentials'])
  })

  it('sends a user away to agree, and takes the code that comes back', async () => {
    await using server = await serveGuarded()
    const visited: URL[] = []
    let [kept, verifier]: [OAuthTokens | undefined, string] = [undefined, '']
    let found: Awaited<ReturnType<NonNullable<OAuthProvider['discoveryState']>>>
    const authorization: OAuthProvider = {
      redirectUrl: 'http://127.0.0.1/back',
      clientMetadata: { redirect_uris: ['http://127.0.0.1/back'] },
      clientInformation: () => ({ client_id: 'ada' }),
      tokens: () => kept,
      saveTokens: (tokens) => {
        kept = tokens
      },
      redirectToAuthorization: (url) => void visited.push(url),
      saveCodeVerifier: (text) => {
        verifier = text
      },
      codeVerifier: () => verifier,
      saveDiscoveryState: (state) => {
        found = state
      },
      discoveryState: () => found,
      invalidateCredentials: () => {},
    }
    await using sessions = createMcpSessions({
      mcpServers: { guarded: { url: server.url, authorization }, open: { url: server.url } },
    })
    expect((await failure(sessions.open('guarded'))).code).toBe('unauthorized')
    expect(visited[0]?.pathname).toBe('/authorize')
    expect(await failure(sessions.finishAuthorization('guarded', 'another-code'))).toMatchObject({
      code: 'unauthorized',
    })
    expect(await failure(sessions.finishAuthorization('open', 'a-code'))).toMatchObject({ code: 'config-invalid' })
    await sessions.finishAuthorization('guarded', 'a-code')
    await using session = await sessions.open('guarded')
    expect((await session.callTool('ask')).text).toBe('yes')
    expect(AgentError.is(await failure(sessions.open('open')), 'unauthorized')).toBe(true)
  })
})
