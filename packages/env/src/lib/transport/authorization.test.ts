import { generateKeyPairSync, verify } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type LoginServerOptions, serveLogin } from '../fixtures/login-server.fixture.ts'
import { type Authorization, createAuthorization, type ProgramLogin, type UserLogin } from './authorization.ts'
import { openChannel } from './open-channel.ts'

/** The keys of a program, as PEM. */
const KEYS = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

/** A login by somebody who always agrees: what a browser would do with the page, and where it would come to. */
function createLogin(options: Partial<UserLogin> = {}): Authorization {
  return createAuthorization({
    redirectUrl: 'http://localhost:9/callback',
    async logIn(page) {
      const answer = await fetch(page, { redirect: 'manual' })
      return answer.headers.get('location') as string
    },
    ...options,
  })
}

describe('createAuthorization', () => {
  it('logs in when a server asks for it, once for all channels and calls', async () => {
    await using server = await serveLogin()
    const authorization = createLogin()
    for (let i = 0; i < 2; i++) {
      const channel = await openChannel({ url: server.url, authorization })
      await Promise.all([1, 2, 3].map(() => channel.request('tools/list', {})))
      await channel.close()
    }
    expect(server.asked).toEqual([
      ...['refused', 'register', 'log in', 'token'],
      ...['server/discover', 'tools/list', 'tools/list', 'tools/list'],
      ...['server/discover', 'tools/list', 'tools/list', 'tools/list'],
    ])
  })

  it('logs in once for channels that open at the same time, though the first of them is given up', async () => {
    await using server = await serveLogin()
    const abort = new AbortController()
    const asked = Promise.withResolvers<void>()
    let logins = 0
    const authorization = createLogin({
      async logIn(page, { signal }) {
        asked.resolve()
        if (++logins === 1)
          return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
        const answer = await fetch(page, { redirect: 'manual' })
        return answer.headers.get('location') as string
      },
    })
    const target = { url: server.url, authorization }
    const first = openChannel(target, { signal: abort.signal })
    await asked.promise
    const others = [openChannel(target), openChannel(target)]
    await expect.poll(() => server.asked.filter((what) => what === 'refused')).toHaveLength(3)
    abort.abort(new Error('Enough.'))
    await expect(first).rejects.toThrow('Enough.')
    for (const channel of await Promise.all(others)) await channel.close()
    expect(logins).toBe(2)
  })

  it('logs in again when what was granted counts no longer, once for all calls in flight', async () => {
    await using server = await serveLogin()
    const channel = await openChannel({ url: server.url, authorization: createLogin() })
    server.revoke()
    await Promise.all([1, 2, 3].map(() => channel.request('tools/list', {})))
    await channel.close()
    const count = (what: string) => server.asked.filter((asked) => asked === what).length
    expect([count('log in'), count('register'), count('tools/list')]).toEqual([2, 1, 3])
  })

  it('uses a client that was registered beforehand', async () => {
    await using server = await serveLogin()
    const channel = await openChannel({ url: server.url, authorization: createLogin({ client: { id: 'mine' } }) })
    await channel.close()
    expect(server.asked).not.toContain('register')
  })

  it.each<[string, () => ProgramLogin['client'], LoginServerOptions['refuseProgram']]>([
    [
      'a secret',
      () => ({ id: 'robot', secret: 'between the two of us' }),
      async ({ basic }) => (basic === `Basic ${btoa('robot:between the two of us')}` ? null : 'another secret'),
    ],
    [
      'a token that it signs',
      () => ({ id: 'robot', privateKey: KEYS.privateKey, algorithm: 'ES256' }),
      async ({ sent, base }) => {
        const [head, body, signature] = String(sent.get('client_assertion')).split('.')
        const signed = { key: KEYS.publicKey, dsaEncoding: 'ieee-p1363' } as const
        if (!verify('sha256', Buffer.from(`${head}.${body}`), signed, Buffer.from(String(signature), 'base64url')))
          return 'another key'
        const { sub, aud } = JSON.parse(Buffer.from(String(body), 'base64url').toString())
        return sub === 'robot' && aud === base ? null : 'somebody else'
      },
    ],
  ])('logs a program in with %s, without a user, and again when what was granted counts no longer', async (...row) => {
    const [, client, refuseProgram] = row
    await using server = await serveLogin({ ...(refuseProgram && { refuseProgram }) })
    const authorization = createAuthorization({ client: client() })
    const channel = await openChannel({ url: server.url, authorization })
    server.revoke()
    await Promise.all([1, 2, 3].map(() => channel.request('tools/list', {})))
    await channel.close()
    const logins = server.asked.filter((what) => ['register', 'log in', 'token'].includes(what))
    expect(logins).toEqual(['token', 'token'])
  })

  it('says why a program was refused', async () => {
    await using server = await serveLogin({ refuseProgram: async () => 'This robot is not known.' })
    const authorization = createAuthorization({ client: { id: 'robot', secret: 'guessed' } })
    const opened = openChannel({ url: server.url, authorization })
    const message = expect.stringContaining('This robot is not known.')
    await expect(opened).rejects.toMatchObject({ code: 'login-failed', message })
  })

  it('shows nothing of what one authorization server gave out to another that is named later', async () => {
    for (const client of [undefined, { id: 'mine', secret: 'between the two of us' }]) {
      await using server = await serveLogin()
      await using other = await serveLogin()
      const channel = await openChannel({ url: server.url, authorization: createLogin({ client }) })
      server.moveTo(other)
      server.revoke()
      // What the other one gives out is no good here either.
      await expect(channel.request('tools/list', {})).rejects.toMatchObject({ code: 'login-failed' })
      await channel.close()
      expect(other.asked).toEqual(client ? [] : ['register', 'log in', 'token', 'log in', 'token'])
    }
  })

  it('gives up where a server is not content with any token', async () => {
    await using server = await serveLogin({ spoilsTokens: true })
    const opened = openChannel({ url: server.url, authorization: createLogin() })
    await expect(opened).rejects.toMatchObject({ code: 'login-failed' })
    expect(server.asked.filter((asked) => asked === 'log in')).toHaveLength(2)
  })

  it.each<[string, LoginServerOptions, RegExp]>([
    ['comes from another authorization server', { iss: 'https://evil.example' }, /another authorization server/],
    ['says what only means the same', { iss: 'slash' }, /another authorization server/],
    ['does not say whom it comes from', { iss: null }, /does not say whom/],
    ['is a refusal', { refuses: true }, /access_denied/],
    ['is for metadata of somebody else', { issuer: 'https://evil.example' }, /that of another one/],
  ])('fails with login-failed where the answer to it %s, and asks once', async (_, options, message) => {
    await using server = await serveLogin(options.iss === 'slash' ? {} : options)
    const authorization = createLogin({
      async logIn(page) {
        const answer = await fetch(page, { redirect: 'manual' })
        const back = new URL(answer.headers.get('location') as string)
        if (options.iss === 'slash') back.searchParams.set('iss', `${back.searchParams.get('iss')}/`)
        return back
      },
    })
    const opened = openChannel({ url: server.url, authorization })
    await expect(opened).rejects.toMatchObject({ code: 'login-failed', message: expect.stringMatching(message) })
    expect(server.asked.filter((asked) => asked === 'refused')).toHaveLength(1)
    expect(server.asked).not.toContain('token')
  })

  it('rejects with the reason if the user does not log in', async () => {
    await using server = await serveLogin()
    const cause = new Error('Not today.')
    const authorization = createLogin({ logIn: () => Promise.reject(cause) })
    const opened = openChannel({ url: server.url, authorization })
    await expect(opened).rejects.toMatchObject({ code: 'login-failed', cause })
  })

  it('rejects with the reason of an abort', async () => {
    await using server = await serveLogin()
    const abort = new AbortController()
    const reason = new Error('Enough.')
    const authorization = createLogin({
      logIn: (_, { signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason))
          abort.abort(reason)
        }),
    })
    const opened = openChannel({ url: server.url, authorization }, { signal: abort.signal })
    await expect(opened).rejects.toBe(reason)
  })

  it('requires the complete URL of the redirect', async () => {
    await using server = await serveLogin()
    const authorization = createLogin({ logIn: async () => 'code' })
    const opened = openChannel({ url: server.url, authorization })
    await expect(opened).rejects.toMatchObject({
      code: 'login-failed',
      message: expect.stringContaining('complete URL'),
    })
    expect(() => createLogin({ redirectUrl: 'nowhere' })).toThrow(/redirectUrl is "nowhere"/)
  })

  it('is for HTTP alone', async () => {
    const opened = openChannel({ url: 'ws://127.0.0.1:9/env', authorization: createLogin() })
    await expect(opened).rejects.toMatchObject({ code: 'target-invalid', message: expect.stringContaining('a token') })
  })
})
