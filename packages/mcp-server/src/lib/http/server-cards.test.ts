import { DEFAULT_SEAT } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { MODERN_META, modernHeaders } from '../fixtures/official-clients.fixture.ts'
import { tally } from '../fixtures/tally.fixture.ts'
import { createTestHost, openOverHttp, rpc, send, serve } from '../fixtures/testbed.fixture.ts'
import { workshop } from '../fixtures/workshop.fixture.ts'
import { createHost } from '../host/create-host.ts'
import type { HttpOptions } from './serve-http.ts'

/** What the schema of Server Cards allows, and nothing else. */
const cardSchema = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  version: z
    .string()
    .max(255)
    .regex(/^\d+\.\d+\.\d+/),
  title: z.string().min(1).max(100),
  description: z.string().min(1).max(100),
  remotes: z.array(
    z.strictObject({
      type: z.literal('streamable-http'),
      url: z.url({ protocol: /^https?$/ }),
      supportedProtocolVersions: z.array(z.string().regex(/^\d{4}-\d\d-\d\d$/)).min(1),
      headers: z
        .array(
          z.strictObject({
            name: z.string(),
            description: z.string(),
            isRequired: z.boolean(),
            isSecret: z.boolean(),
          }),
        )
        .optional(),
    }),
  ),
})
const catalogSchema = z.strictObject({
  specVersion: z.literal('1.0'),
  entries: z.array(
    z.strictObject({
      identifier: z.string().regex(/^urn:air:[a-z0-9.-]+:[a-z0-9-]+$/),
      displayName: z.string().min(1),
      type: z.literal('application/mcp-server-card+json'),
      url: z.url(),
    }),
  ),
})

const TOKEN = 'a-token-of-twenty-two-characters'
const GET = { method: 'GET' }

async function serveCards(options: HttpOptions = {}) {
  const { host } = createTestHost({ environments: [tally, workshop] })
  const server = await serve(host, options)
  return { host, server, origin: `http://127.0.0.1:${server.port}` }
}

describe('the catalog', () => {
  it('names a card for each environment, which a client can fetch and connect with', async () => {
    const { origin } = await serveCards()
    const { status, headers, text } = await send(`${origin}/.well-known/ai-catalog.json`, GET)
    expect({ status, headers }).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'application/ai-catalog+json',
        'access-control-allow-origin': '*',
        'cache-control': 'public, max-age=3600',
      },
    })
    const { entries } = catalogSchema.parse(JSON.parse(text))
    expect(entries.map(({ identifier }) => identifier)).toEqual([
      'urn:air:localhost:tally',
      'urn:air:localhost:workshop',
    ])
    for (const { url } of entries) {
      const answer = await send(url, { ...GET, headers: { accept: 'application/mcp-server-card+json' } })
      expect(answer.headers['content-type']).toBe('application/mcp-server-card+json')
      const card = cardSchema.parse(JSON.parse(answer.text))
      const [remote] = card.remotes
      expect(remote?.url).toBe(url.replace(/\/server-card$/, ''))
      const { json } = await rpc(remote?.url as string, 'initialize', {
        protocolVersion: remote?.supportedProtocolVersions.at(-1),
        capabilities: {},
        clientInfo: { name: 'raw', version: '1.0.0' },
      })
      expect(json.result).toMatchObject({
        protocolVersion: remote?.supportedProtocolVersions.at(-1),
        serverInfo: { name: card.name.split('/')[1], title: card.title, version: card.version },
      })
    }
  })
})

describe('a Server Card', () => {
  it('agrees with server/discover', async () => {
    const { origin } = await serveCards()
    const card = cardSchema.parse(JSON.parse((await send(`${origin}/mcp/server-card`, GET)).text))
    const method = 'server/discover'
    const { json } = await rpc(`${origin}/mcp`, method, { _meta: MODERN_META }, modernHeaders(method))
    expect(card.remotes[0]?.supportedProtocolVersions).toEqual(
      expect.arrayContaining(json.result?.supportedVersions as string[]),
    )
    expect(json.result?._meta).toMatchObject({
      'io.modelcontextprotocol/serverInfo': { name: 'tally', version: card.version },
    })
    expect(json.result?.instructions).toContain(card.description)
  })

  it('does not offer the version without sessions to an environment whose session is its episode', async () => {
    const { origin } = await serveCards()
    const versionsOf = async (name: string) =>
      cardSchema.parse(JSON.parse((await send(`${origin}/mcp/e/${name}/server-card`, GET)).text)).remotes[0]
        ?.supportedProtocolVersions
    expect(await versionsOf('tally')).toContain('2026-07-28')
    expect(await versionsOf('workshop')).not.toContain('2026-07-28')
  })

  it('is not there for a session, and says nothing of one', async () => {
    const { server, origin } = await serveCards()
    const before = await send(`${origin}/mcp/e/tally/server-card`, GET)
    const { seats } = await openOverHttp(server, { environment: 'tally' })
    const url = server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string)
    for (const path of [`${url}/server-card`, `${origin}/mcp/e/chess/server-card`, `${origin}/env/server-card`])
      expect((await send(path, GET)).status, path).toBe(404)
    expect((await send(`${origin}/mcp/e/tally/server-card`, GET)).text).toBe(before.text)
  })

  it('names the host that was asked for, with https on a network, and only a host that is served', async () => {
    const { origin } = await serveCards({ allow: { hosts: ['worlds.example.com'] } })
    const headers = { host: 'worlds.example.com' }
    const card = cardSchema.parse(JSON.parse((await send(`${origin}/mcp/server-card`, { ...GET, headers })).text))
    expect(card).toMatchObject({
      name: 'com.example.worlds/tally',
      remotes: [{ url: 'https://worlds.example.com/mcp/e/tally' }],
    })
    expect((await send(`${origin}/mcp/server-card`, { ...GET, headers: { host: 'evil.example' } })).status).toBe(403)
  })

  it('is for the pages of allowed origins, and is asked for with GET', async () => {
    const page = 'https://page.example'
    const { origin } = await serveCards({ allow: { origins: [page] } })
    const url = `${origin}/mcp/server-card`
    expect((await send(url, { ...GET, headers: { origin: 'https://evil.example' } })).status).toBe(403)
    expect((await send(url, { ...GET, headers: { origin: page } })).headers['access-control-allow-origin']).toBe('*')
    expect((await send(url, { method: 'OPTIONS', headers: { origin: page } })).status).toBe(204)
    expect((await send(url, { body: '{}' })).status).toBe(405)
    expect(await send(url, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
  })

  it('needs the token of the agent endpoint where that needs one, and is kept by no shared cache', async () => {
    const { origin } = await serveCards({ auth: { agentTokens: { [TOKEN]: 'ada' } } })
    const unknown = await send(`${origin}/mcp/server-card`, GET)
    expect(unknown).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } })
    expect(unknown.text).not.toContain('tally')
    expect((await send(`${origin}/.well-known/ai-catalog.json`, GET)).status).toBe(401)
    const headers = { authorization: `Bearer ${TOKEN}` }
    const known = await send(`${origin}/mcp/server-card`, { ...GET, headers })
    expect(known.headers['cache-control']).toBe('private, max-age=3600')
    expect(cardSchema.parse(JSON.parse(known.text)).remotes[0]?.headers).toMatchObject([
      { name: 'Authorization', isRequired: true, isSecret: true },
    ])
  })

  it('counts as a call', async () => {
    const { origin } = await serveCards({ limits: { rate: { calls: 2, seconds: 60 } } })
    const ask = async () => (await send(`${origin}/mcp/server-card`, GET)).status
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429])
  })

  it('shortens what a world says of itself', async () => {
    const wordy = { ...tally, description: `Count to ten.\n${'And on, and on. 🎲 '.repeat(20)}` }
    await using host = createHost({ environments: [wordy] })
    const server = await serve(host)
    const { text } = await send(`${server.agentUrl}/server-card`, GET)
    expect(cardSchema.parse(JSON.parse(text)).description).toMatch(/^Count to ten\. And on.*…$/)
  })
})
