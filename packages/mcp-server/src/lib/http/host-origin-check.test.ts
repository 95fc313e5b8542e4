import { connect as connectSocket } from 'node:net'
import { METHODS } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import {
  connectClient,
  controlHeaders,
  createTestHost,
  INITIALIZE,
  initialize,
  rpc,
  send,
  serve,
} from '../fixtures/testbed.fixture.ts'
import type { HttpOptions } from './serve-http.ts'
import { serveHttp } from './serve-http.ts'

const ANNA = 'anna-has-a-long-bearer-token'
const BEN = 'ben-has-a-longer-bearer-token'
const LISTED = 'https://lab.example.com'

const served = async (options: HttpOptions = {}) => {
  const { host } = createTestHost()
  return serve(host, options)
}

/** The status of a request whose head is written by hand, so that nothing in between puts it right. */
function statusOf(port: number, head: readonly string[]): Promise<number> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE })
  const lines = [...head, 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, '', body]
  return new Promise((resolve, reject) => {
    const socket = connectSocket(port, '127.0.0.1', () => socket.write(lines.join('\r\n')))
    socket.once('error', reject)
    socket.once('data', (data) => {
      socket.destroy()
      resolve(Number(data.toString('latin1').split(' ', 2)[1]))
    })
  })
}

describe('the Host header, on loopback', () => {
  const HOSTS: readonly (readonly [host: string, status: number])[] = [
    ['localhost', 200],
    ['LOCALHOST', 200],
    ['localhost:80', 200],
    ['localhost:65535', 200],
    ['127.0.0.1', 200],
    ['127.0.0.1:3000', 200],
    ['[::1]', 200],
    ['[::1]:3000', 200],
    ['evil.com', 403],
    ['evil.com:80', 403],
    ['localhost.evil.com', 403],
    ['evil.com.localhost', 403],
    ['127.0.0.1.evil.com', 403],
    ['127.0.0.1.nip.io', 403],
    ['localhost.', 403],
    ['.localhost', 403],
    ['localhost@evil.com', 403],
    ['evil.com@localhost', 403],
    ['user:password@localhost', 403],
    ['localhost:80@evil.com', 403],
    ['localhost/evil.com', 403],
    ['localhost?evil.com', 403],
    ['localhost#evil.com', 403],
    ['localhost\\evil.com', 403],
    ['localhost, evil.com', 403],
    ['localhost evil.com', 403],
    ['localhost:', 403],
    ['localhost:port', 403],
    ['localhost:123456', 403],
    ['http://localhost', 403],
    ['::1', 403],
    ['[::1', 403],
    ['[::1].evil.com', 403],
    ['[::ffff:127.0.0.1]', 403],
    ['[::2]', 403],
    ['[]', 403],
    ['127.1', 403],
    ['127.0.0.2', 403],
    ['2130706433', 403],
    ['0x7f.0.0.1', 403],
    ['0.0.0.0', 403],
    ['192.168.0.1', 403],
    ['ⅼocalhost', 403],
    ['%6cocalhost', 403],
    ['', 403],
  ]

  it('has to be a name of this machine', async () => {
    const { port } = await served()
    const answered = []
    for (const [host] of HOSTS) answered.push([host, await statusOf(port, ['POST /mcp HTTP/1.1', `Host: ${host}`])])
    expect(answered).toEqual(HOSTS)
  })

  it('is required', async () => {
    const { port } = await served()
    expect(await statusOf(port, ['POST /mcp HTTP/1.1'])).toBe(400)
    expect(await statusOf(port, ['POST /mcp HTTP/1.0'])).toBe(403)
  })

  it.each(['localhost', 'evil.com', ''])('may occur once, and is rejected together with %j', async (other) => {
    // One that answers plain requests by itself, and one that leaves all of them to node:http.
    for (const options of [{}, { fastPath: false }]) {
      const { port } = await served(options)
      for (const hosts of [
        ['Host: localhost', `Host: ${other}`],
        [`host: ${other}`, 'HOST: localhost'],
      ])
        expect(await statusOf(port, ['POST /mcp HTTP/1.1', ...hosts])).toBe(400)
    }
  })

  it('is checked first, at every path', async () => {
    const { port } = await served()
    for (const path of ['/mcp', '/env', '/mcp/s/cap_x', '/nowhere'])
      expect(await statusOf(port, [`POST ${path} HTTP/1.1`, 'Host: evil.com'])).toBe(403)
  })

  it('may be a listed name', async () => {
    const { port } = await served({ allow: { hosts: ['Train.Example.com', 'fd00::7'] } })
    for (const [host, status] of [
      ['train.example.com:8080', 200],
      ['[fd00::7]', 200],
      ['localhost', 200],
      ['example.com', 403],
      ['a.train.example.com', 403],
    ] as const)
      expect(await statusOf(port, ['POST /mcp HTTP/1.1', `Host: ${host}`]), host).toBe(status)
  })
})

describe('the Origin header', () => {
  const ORIGINS: readonly (readonly [origin: string, status: number])[] = [
    [LISTED, 200],
    ['http://localhost', 200],
    ['http://localhost:5173', 200],
    ['https://localhost', 200],
    ['http://127.0.0.1:8080', 200],
    ['http://[::1]:8080', 200],
    ['https://evil.com', 403],
    ['http://localhost.evil.com', 403],
    ['http://localhost@evil.com', 403],
    ['http://evil.com@localhost', 403],
    ['http://localhost:80:80', 403],
    ['null', 403],
    ['file://', 403],
    ['ftp://localhost', 403],
    ['chrome-extension://localhost', 403],
    ['localhost', 403],
    ['http://', 403],
    ['http:localhost', 403],
    ['http://localhost/', 403],
    ['http://lab.example.com', 403],
    [`${LISTED}:8443`, 403],
    [`${LISTED}.evil.com`, 403],
    [LISTED.toUpperCase(), 403],
    ['', 403],
  ]

  it('may be of this machine or listed', async () => {
    const { port } = await served({ allow: { origins: [LISTED] } })
    const answered = []
    for (const [origin] of ORIGINS)
      answered.push([origin, await statusOf(port, ['POST /mcp HTTP/1.1', 'Host: localhost', `Origin: ${origin}`])])
    expect(answered).toEqual(ORIGINS)
  })

  it('gets CORS headers only if it is listed', async () => {
    const { agentUrl } = await served({ allow: { origins: [LISTED] } })
    const cors = async (origin: string | null) => {
      const { headers } = await rpc(agentUrl, 'initialize', INITIALIZE, { origin })
      return headers['access-control-allow-origin']
    }
    expect(await cors(LISTED)).toBe(LISTED)
    expect(await cors('http://localhost:5173')).toBeUndefined()
    expect(await cors(null)).toBeUndefined()
  })

  it('is answered in a preflight if it is listed', async () => {
    const { agentUrl, trainerUrl } = await served({ allow: { origins: [LISTED] } })
    for (const url of [agentUrl, trainerUrl]) {
      const allowed = await send(url, { method: 'OPTIONS', headers: { origin: LISTED } })
      expect(allowed.status).toBe(204)
      expect(allowed.headers).toMatchObject({
        'access-control-allow-origin': LISTED,
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': expect.stringContaining('Mcp-Session-Id'),
        'access-control-expose-headers': 'Mcp-Session-Id',
        vary: 'Origin',
      })
      for (const origin of ['https://evil.com', 'http://localhost:5173', null]) {
        const denied = await send(url, { method: 'OPTIONS', headers: { origin } })
        expect(denied.status).toBe(403)
        expect(denied.headers['access-control-allow-origin']).toBeUndefined()
      }
    }
  })

  it('is rejected by default if it is not of this machine', async () => {
    const { agentUrl } = await served()
    expect((await rpc(agentUrl, 'initialize', INITIALIZE, { origin: LISTED })).status).toBe(403)
  })
})

describe('bearer tokens of the agent endpoint', () => {
  it('are not required on loopback unless they are configured', async () => {
    const open = await served()
    expect((await rpc(open.agentUrl, 'initialize', INITIALIZE)).status).toBe(200)
    const closed = await served({ auth: { agentTokens: { [ANNA]: 'anna' } } })
    const denied = await rpc(closed.agentUrl, 'initialize', INITIALIZE)
    expect(denied.status).toBe(401)
    expect(denied.headers['www-authenticate']).toBe('Bearer')
    expect(denied.headers['mcp-session-id']).toBeUndefined()
  })

  it.each([
    [`Bearer ${ANNA}`, 200],
    [`bearer ${ANNA}`, 200],
    [`Bearer ${BEN}`, 200],
    [`Bearer ${ANNA.slice(1)}`, 401],
    [`Bearer ${ANNA}x`, 401],
    [`Bearer ${ANNA} ${BEN}`, 401],
    ['Bearer ', 401],
    ['Bearer', 401],
    [ANNA, 401],
    [`Basic ${ANNA}`, 401],
    ['', 401],
  ])('decide on %j', async (authorization, status) => {
    const { agentUrl } = await served({ auth: { agentTokens: { [ANNA]: 'anna', [BEN]: 'ben' } } })
    expect((await rpc(agentUrl, 'initialize', INITIALIZE, { authorization })).status).toBe(status)
  })

  it('authorize a plain client', async () => {
    const { agentUrl } = await served({ auth: { agentTokens: { [ANNA]: 'anna' } } })
    const { client } = await connectClient(agentUrl, { authorization: `Bearer ${ANNA}` })
    expect((await client.callTool({ name: 'guess', arguments: { value: 1 } })).isError).toBeUndefined()
    await expect(connectClient(agentUrl)).rejects.toThrow(/401|bearer/i)
  })

  it('are not valid at the trainer endpoint, and the control token is not valid at the agent’s', async () => {
    const server = await served({ auth: { agentTokens: { [ANNA]: 'anna' } } })
    expect((await rpc(server.trainerUrl, METHODS.list, {}, { authorization: `Bearer ${ANNA}` })).status).toBe(401)
    expect((await rpc(server.agentUrl, 'initialize', INITIALIZE, controlHeaders(server))).status).toBe(401)
  })

  it.each([
    '',
    'short',
    'twenty-one-characters',
    'with a space in the middle of it',
    'ümlauts-cannot-be-sent-in-headers',
  ])('cannot be %j', async (token) => {
    const { host } = createTestHost()
    const invalid = expect.objectContaining({ code: 'option-invalid' })
    await expect(serveHttp(host, { auth: { agentTokens: { [token]: 'anna' } } })).rejects.toThrow(invalid)
    await expect(serveHttp(host, { auth: { controlToken: token } })).rejects.toThrow(invalid)
  })
})

describe('the control token', () => {
  it('is required on loopback too, and differs between servers', async () => {
    const [one, other] = [await served(), await served()]
    expect(one.controlToken).not.toBe(other.controlToken)
    for (const authorization of [
      null,
      '',
      'Bearer ',
      `Bearer ${other.controlToken}`,
      `Bearer ${one.controlToken.slice(0, -1)}`,
      one.controlToken,
    ]) {
      const denied = await rpc(one.trainerUrl, METHODS.list, {}, { authorization })
      expect(denied.status).toBe(401)
      expect(denied.text).not.toContain('number-guessing')
    }
    expect((await rpc(one.trainerUrl, METHODS.list, {}, controlHeaders(one))).status).toBe(200)
  })

  it('can be configured', async () => {
    const server = await served({ auth: { controlToken: 'chosen-by-the-operator' } })
    const headers = { authorization: 'Bearer chosen-by-the-operator' }
    expect((await rpc(server.trainerUrl, METHODS.list, {}, headers)).status).toBe(200)
  })
})

describe('an address that a network can reach', () => {
  const unsafe = expect.objectContaining({ code: 'unsafe-bind' })

  it.each(['0.0.0.0', '::', '192.168.0.1', 'example.com', '128.0.0.1', '127.evil.com', ''])(
    'is not served without tokens: %j',
    async (address) => {
      const { host } = createTestHost()
      await expect(serveHttp(host, { address })).rejects.toThrow(unsafe)
    },
  )

  it.each(['0.0.0.0', '::'])('is not served under any name: %s', async (address) => {
    const { host } = createTestHost()
    await expect(serveHttp(host, { address, auth: { agentTokens: { [ANNA]: 'anna' } } })).rejects.toThrow(unsafe)
  })

  it('is served with both, to those with a token, under the names that are listed', async () => {
    const { host } = createTestHost()
    const agentTokens = { [ANNA]: 'anna' }
    const { port } = await serve(host, {
      address: '0.0.0.0',
      allow: { hosts: ['train.example.com'] },
      auth: { agentTokens },
    })
    const token = `Authorization: Bearer ${ANNA}`
    const post = 'POST /mcp HTTP/1.1'
    expect(await statusOf(port, [post, 'Host: train.example.com', token])).toBe(200)
    expect(await statusOf(port, [post, 'Host: train.example.com'])).toBe(401)
    expect(await statusOf(port, [post, 'Host: localhost', token])).toBe(403)
    expect(await statusOf(port, [post, 'Host: train.example.com', token, 'Origin: http://localhost'])).toBe(403)
  })

  it('includes every loopback address and name in what needs neither', async () => {
    const { host } = createTestHost()
    for (const address of ['127.0.0.1', 'localhost', '127.0.0.2']) {
      const { agentUrl } = await serve(host, { address })
      expect(await initialize(agentUrl)).toHaveProperty('mcp-session-id')
    }
  })
})
