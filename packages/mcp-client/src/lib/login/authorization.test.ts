import { generateKeyPairSync, verify } from 'node:crypto'
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { type LoginServerOptions, serveLogin } from '../fixtures/login-server.fixture.ts'
import { openChannel } from '../open-channel.ts'
import { finishAuthorization } from './sdk-authorization.ts'
import type { OAuthClient, OAuthProvider, OAuthTokens } from './sdk-provider.ts'

/** The keys of a program, as PEM. */
const KEYS = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

/** The provider of a user, in memory, and the pages to which the user was sent. */
function createUser(client?: OAuthClient): OAuthProvider & { readonly pages: URL[] } {
  const pages: URL[] = []
  let [tokens, registered, verifier]: [OAuthTokens | undefined, OAuthClient | undefined, string] = [
    undefined,
    client,
    '',
  ]
  let found: Awaited<ReturnType<NonNullable<OAuthProvider['discoveryState']>>>
  return {
    pages,
    redirectUrl: 'http://localhost:9/callback',
    clientMetadata: { redirect_uris: ['http://localhost:9/callback'] },
    state: () => 'a-state',
    clientInformation: () => registered,
    saveClientInformation: (information) => {
      registered = information
    },
    tokens: () => tokens,
    saveTokens: (granted) => {
      tokens = granted
    },
    redirectToAuthorization: (page) => void pages.push(page),
    saveCodeVerifier: (text) => {
      verifier = text
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (state) => {
      found = state
    },
    discoveryState: () => found,
  }
}

/** Opens a page as a user who always agrees, and returns what the redirect brings. */
async function agree(page: URL | undefined): Promise<URLSearchParams> {
  const answer = await fetch(String(page), { redirect: 'manual' })
  return new URL(answer.headers.get('location') as string).searchParams
}

/** Sends a user to log in at a server, and brings back what the redirect says. */
async function logIn(url: string, user: ReturnType<typeof createUser>): Promise<void> {
  await expect(openChannel({ url, authorization: user })).rejects.toMatchObject({
    code: 'login-failed',
    message: expect.stringContaining('agree first'),
  })
  await finishAuthorization(url, user, await agree(user.pages.at(-1)))
}

describe('a login of a user', () => {
  it('counts for all channels and calls', async () => {
    await using server = await serveLogin()
    const user = createUser()
    await logIn(server.url, user)
    for (let i = 0; i < 2; i++) {
      const channel = await openChannel({ url: server.url, authorization: user })
      await Promise.all([1, 2, 3].map(() => channel.request('tools/list', {})))
      await channel.close()
    }
    expect(server.asked).toEqual([
      ...['refused', 'register', 'log in', 'token'],
      ...['server/discover', 'tools/list', 'tools/list', 'tools/list'],
      ...['server/discover', 'tools/list', 'tools/list', 'tools/list'],
    ])
  })

  it('uses a client that was registered beforehand', async () => {
    await using server = await serveLogin()
    await logIn(server.url, createUser({ client_id: 'mine' }))
    expect(server.asked).not.toContain('register')
  })

  it.each<[string, LoginServerOptions, RegExp]>([
    ['comes from another authorization server', { iss: 'https://evil.example' }, /issuer/i],
    ['does not say whom it comes from', { iss: null }, /issuer|iss\b/i],
    ['is a refusal', { refuses: true }, /access_denied/],
  ])('fails where the answer to it %s, and no code is sent', async (_, options, message) => {
    await using server = await serveLogin(options)
    await expect(logIn(server.url, createUser())).rejects.toMatchObject({
      code: 'login-failed',
      message: expect.stringMatching(message),
    })
    expect(server.asked).not.toContain('token')
  })

  it('is not asked for at an authorization server with the metadata of another one', async () => {
    await using server = await serveLogin({ issuer: 'https://evil.example' })
    const user = createUser()
    await expect(openChannel({ url: server.url, authorization: user })).rejects.toMatchObject({ code: 'login-failed' })
    expect(user.pages).toEqual([])
  })

  it('is for HTTP alone', async () => {
    const opened = openChannel({ url: 'ws://127.0.0.1:9/env', authorization: createUser() })
    await expect(opened).rejects.toMatchObject({ code: 'target-invalid', message: expect.stringContaining('a token') })
  })
})

describe('a login of a program', () => {
  type Expecting = { readonly expectedIssuer: string }
  it.each<[string, (expecting: Expecting) => OAuthProvider, LoginServerOptions['refuseProgram']]>([
    [
      'a secret',
      (expecting) =>
        new ClientCredentialsProvider({ ...expecting, clientId: 'robot', clientSecret: 'between the two of us' }),
      async ({ basic }) => (basic === `Basic ${btoa('robot:between the two of us')}` ? null : 'another secret'),
    ],
    [
      'a token that it signs',
      (expecting) =>
        new PrivateKeyJwtProvider({
          ...expecting,
          clientId: 'robot',
          privateKey: KEYS.privateKey,
          algorithm: 'ES256',
        }),
      async ({ sent, base }) => {
        const [head, body, signature] = String(sent.get('client_assertion')).split('.')
        const signed = { key: KEYS.publicKey, dsaEncoding: 'ieee-p1363' } as const
        if (!verify('sha256', Buffer.from(`${head}.${body}`), signed, Buffer.from(String(signature), 'base64url')))
          return 'another key'
        const { sub, aud } = JSON.parse(Buffer.from(String(body), 'base64url').toString())
        return sub === 'robot' && aud === base ? null : 'somebody else'
      },
    ],
  ])('is by %s, without a user, once for all calls in flight, and again when it counts no longer', async (...row) => {
    const [, create, refuseProgram] = row
    await using server = await serveLogin({ ...(refuseProgram && { refuseProgram }) })
    const authorization = create({ expectedIssuer: new URL(server.url).origin })
    const opened = await Promise.all([1, 2, 3].map(() => openChannel({ url: server.url, authorization })))
    server.revoke()
    await Promise.all(opened.map((channel) => channel.request('tools/list', {})))
    for (const channel of opened) await channel.close()
    const logins = server.asked.filter((what) => ['register', 'log in', 'token'].includes(what))
    expect(logins).toEqual(['token', 'token'])
  })

  const robot = ({ url }: { readonly url: string }) =>
    new ClientCredentialsProvider({
      clientId: 'robot',
      clientSecret: 'guessed',
      expectedIssuer: new URL(url).origin,
    })

  it('says why the program was refused', async () => {
    await using server = await serveLogin({ refuseProgram: async () => 'This robot is not known.' })
    const opened = openChannel({ url: server.url, authorization: robot(server) })
    const message = expect.stringContaining('This robot is not known.')
    await expect(opened).rejects.toMatchObject({ code: 'login-failed', message })
  })

  it('shows nothing to another authorization server that is named later', async () => {
    await using server = await serveLogin()
    await using other = await serveLogin()
    const channel = await openChannel({ url: server.url, authorization: robot(server) })
    server.moveTo(other)
    server.revoke()
    await expect(channel.request('tools/list', {})).rejects.toMatchObject({ code: 'login-failed' })
    await channel.close()
    expect(other.asked).toEqual([])
  })

  it('gives up where a server is not content with any token', async () => {
    await using server = await serveLogin({ spoilsTokens: true })
    const opened = openChannel({ url: server.url, authorization: robot(server) })
    await expect(opened).rejects.toMatchObject({ code: 'login-failed' })
    expect(server.asked.filter((asked) => asked === 'token')).toHaveLength(2)
  })

  it('goes on for others when one gives up', async () => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await using server = await serveLogin({
      async refuseProgram() {
        asked.resolve()
        await answered.promise
        return null
      },
    })
    const abort = new AbortController()
    const target = { url: server.url, authorization: robot(server) }
    const first = openChannel(target, { signal: abort.signal })
    await asked.promise
    const other = openChannel(target)
    abort.abort(new Error('Enough.'))
    await expect(first).rejects.toThrow('Enough.')
    answered.resolve()
    await (await other).close()
    expect(server.asked.filter((what) => what === 'token')).toHaveLength(1)
  })
})
