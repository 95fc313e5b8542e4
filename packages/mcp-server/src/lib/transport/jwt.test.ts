import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { METHODS } from '@episodic/protocol'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestHost, INITIALIZE, rpc, serveTestHost } from '../fixtures/testbed.fixture.ts'
import { type HttpServer, serveHttp } from '../http/serve-http.ts'
import type { JwtOptions } from './jwt.ts'

const ISSUER = 'https://login.example.com'
const AUDIENCE = { agent: 'https://train.example.com/mcp', trainer: 'https://train.example.com/env' }

/** An issuer with one key, and the set that it publishes. */
async function createIssuer(algorithm = 'ES256') {
  const { privateKey, publicKey } = await generateKeyPair(algorithm)
  const key: JWK = { ...(await exportJWK(publicKey)), kid: 'first', alg: algorithm, use: 'sig' }
  return {
    jwks: { keys: [key] } as JwtOptions['jwks'],
    key,
    /** A token for the trainer endpoint, unless it claims something else. A claim of `undefined` is left out. */
    issue(claims: Record<string, unknown> = {}, header: object = {}): Promise<string> {
      const now = Math.floor(Date.now() / 1_000)
      const all = { iss: ISSUER, aud: AUDIENCE.trainer, sub: 'anna', iat: now, exp: now + 600, ...claims }
      return new SignJWT(all).setProtectedHeader({ alg: algorithm, kid: 'first', ...header }).sign(privateKey)
    },
  }
}

async function serveJwt(jwks: JwtOptions['jwks'], options: Partial<JwtOptions> = {}) {
  const errors: unknown[] = []
  const jwt = { issuer: ISSUER, audience: AUDIENCE, jwks, ...options }
  const testbed = await serveTestHost({ auth: { jwt }, onError: ({ cause }) => errors.push(cause) })
  return { ...testbed, errors }
}

const trainer = async (server: HttpServer, token: string) =>
  rpc(server.trainerUrl, METHODS.list, {}, { authorization: `Bearer ${token}` })
const agent = async (server: HttpServer, token: string) =>
  rpc(server.agentUrl, 'initialize', INITIALIZE, { authorization: `Bearer ${token}` })

describe('a JSON Web Token', () => {
  it.each(['ES256', 'RS256', 'PS256', 'EdDSA'])(
    'is accepted with its subject as the principal, signed with %s',
    async (algorithm) => {
      const issuer = await createIssuer(algorithm)
      const { host, server } = await serveJwt(issuer.jwks)
      for (const subject of ['anna', 'ben']) {
        const headers = { authorization: `Bearer ${await issuer.issue({ sub: subject })}` }
        const request = { environment: 'number-guessing', requestKey: crypto.randomUUID() }
        expect((await rpc(server.trainerUrl, METHODS.open, request, headers)).json.result).toBeDefined()
      }
      const { sessions } = await host.list({ limit: 10 })
      expect(sessions.map(({ owner }) => owner).sort()).toEqual(['anna', 'ben'])
    },
  )

  it('is valid only at the endpoint of its audience', async () => {
    const issuer = await createIssuer()
    const { server } = await serveJwt(issuer.jwks)
    const agents = await issuer.issue({ aud: AUDIENCE.agent })
    const trainers = await issuer.issue({ aud: [AUDIENCE.trainer, 'https://elsewhere.example.com'] })
    expect([(await agent(server, agents)).status, (await trainer(server, agents)).status]).toEqual([200, 401])
    expect([(await agent(server, trainers)).status, (await trainer(server, trainers)).status]).toEqual([401, 200])
    expect((await rpc(server.agentUrl, 'initialize', INITIALIZE)).status).toBe(401)
  })

  it('is rejected when anything about it is wrong, and the answer does not say what', async () => {
    const issuer = await createIssuer()
    const stranger = await createIssuer()
    const { server, errors } = await serveJwt(issuer.jwks)
    const good = await issuer.issue()
    const [head = '', body = '', signature = ''] = good.split('.')
    const seconds = Math.floor(Date.now() / 1_000)
    const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url')
    const shared = Buffer.from(JSON.stringify({ alg: 'HS256', kid: 'first' })).toString('base64url')
    const confused = createHmac('sha256', JSON.stringify(issuer.key)).update(`${shared}.${body}`).digest('base64url')
    const wrong = {
      'another issuer': await issuer.issue({ iss: `${ISSUER}/` }),
      'no issuer': await issuer.issue({ iss: undefined }),
      'another audience': await issuer.issue({ aud: 'https://train.example.com' }),
      'no audience': await issuer.issue({ aud: undefined }),
      'it has expired': await issuer.issue({ exp: seconds - 60 }),
      'it never expires': await issuer.issue({ exp: undefined }),
      'not yet valid': await issuer.issue({ nbf: seconds + 600 }),
      'no subject': await issuer.issue({ sub: undefined }),
      'an empty subject': await issuer.issue({ sub: '' }),
      'a subject without end': await issuer.issue({ sub: 'x'.repeat(257) }),
      "somebody else's key": await stranger.issue(),
      'an unknown key': await issuer.issue({}, { kid: 'second' }),
      'no signature': `${none}.${body}.`,
      'a signature of none': `${none}.${body}.${signature}`,
      'a shared secret': `${shared}.${body}.${confused}`,
      'a changed body': `${head}.${Buffer.from('{"sub":"ben"}').toString('base64url')}.${signature}`,
      'a cut signature': good.slice(0, -2),
      nonsense: 'e30.e30.e30',
    }
    const answers = await Promise.all(Object.values(wrong).map((token) => trainer(server, token)))
    const statuses = Object.fromEntries(Object.keys(wrong).map((name, i) => [name, answers[i]?.status]))
    expect(statuses).toEqual(Object.fromEntries(Object.keys(wrong).map((name) => [name, 401])))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(new Set(answers.map(({ headers }) => headers['www-authenticate']))).toEqual(new Set(['Bearer']))
    expect((await trainer(server, good)).status).toBe(200)
    expect(errors).toEqual([])
  })

  it('is not remembered past its end', async () => {
    const issuer = await createIssuer()
    const { server } = await serveJwt(issuer.jwks)
    // Already over, and within what clocks may differ: checked each time, because it is not good from now on.
    const ending = await issuer.issue({ exp: Math.floor(Date.now() / 1_000) - 1 })
    for (let i = 0; i < 3; i++) expect((await trainer(server, ending)).status).toBe(200)
  })
})

describe('the keys of an issuer', () => {
  /** Publishes a set, and keeps what it is asked with. `publish` may be changed meanwhile. */
  async function publishKeys(set: { status: number; body: unknown }) {
    const asked: { url: string | undefined; headers: object }[] = []
    const keys = createServer(({ url, headers }, response) => {
      asked.push({ url, headers })
      response.writeHead(set.status, { 'content-type': 'application/json' }).end(JSON.stringify(set.body))
    }).listen(0, '127.0.0.1')
    await once(keys, 'listening')
    onTestFinished(() => {
      keys.closeAllConnections()
      keys.close()
    })
    return { asked, url: new URL(`http://127.0.0.1:${(keys.address() as AddressInfo).port}/keys`) }
  }

  it('are fetched where they are published, and no token goes there', async () => {
    const issuer = await createIssuer()
    const { asked, url } = await publishKeys({ status: 200, body: issuer.jwks })
    const { server } = await serveJwt(url)
    const token = await issuer.issue()
    for (let i = 0; i < 5; i++) expect((await trainer(server, token)).status).toBe(200)
    expect(asked).toHaveLength(1)
    expect(JSON.stringify(asked)).not.toContain(token)
    expect(asked[0]?.headers).not.toHaveProperty('authorization')
  })

  it('do not make a token invalid if they cannot be fetched', async () => {
    const issuer = await createIssuer()
    const set = { status: 500, body: {} as unknown }
    const { url } = await publishKeys(set)
    const { server, errors } = await serveJwt(url)
    const token = await issuer.issue()
    expect((await trainer(server, token)).status).toBe(503)
    set.status = 200
    set.body = { keys: 'none' }
    expect((await trainer(server, token)).status).toBe(503)
    expect(errors).toHaveLength(2)
    set.body = issuer.jwks
    expect((await trainer(server, token)).status).toBe(200)
    // The server's own token needs nobody's keys.
    expect((await trainer(server, server.controlToken)).status).toBe(200)
  })

  it.each([
    ['plain http elsewhere', { jwks: new URL('http://login.example.com/keys') }],
    ['what is no set', { jwks: { keys: 'none' } as unknown as JwtOptions['jwks'] }],
    ['one audience for both endpoints', { audience: { agent: 'x', trainer: 'x' } }],
    ['no audience', { audience: {} }],
    ['no issuer', { issuer: '' }],
  ])('are refused with %s', async (_, options) => {
    const { host } = createTestHost()
    const jwt = { issuer: ISSUER, audience: AUDIENCE, jwks: { keys: [] }, ...options }
    await expect(serveHttp(host, { auth: { jwt } })).rejects.toThrow(
      expect.objectContaining({ code: 'option-invalid' }),
    )
  })

  it('make an address safe to bind that a network can reach, for agents too', async () => {
    const { host } = createTestHost()
    const bind = (audience: JwtOptions['audience']) =>
      serveHttp(host, {
        address: '0.0.0.0',
        allow: { hosts: ['train.example.com'] },
        auth: { jwt: { issuer: ISSUER, jwks: { keys: [] }, audience } },
      })
    await expect(bind({ trainer: 'x' })).rejects.toThrow(expect.objectContaining({ code: 'unsafe-bind' }))
    await (await bind(AUDIENCE))[Symbol.asyncDispose]()
  })
})
