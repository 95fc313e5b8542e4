import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { auction } from '../fixtures/auction.fixture.ts'
import { MODERN_META, modernHeaders, OFFICIAL_CLIENTS } from '../fixtures/official-clients.fixture.ts'
import { tally } from '../fixtures/tally.fixture.ts'
import { createTestHost, initialize, openOverHttp, rpc, serve } from '../fixtures/testbed.fixture.ts'
import { workshop } from '../fixtures/workshop.fixture.ts'

interface SkillEntry {
  readonly uri: string
  readonly frontmatter: { readonly name: string; readonly description: string }
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[]
}

async function serveSkills() {
  const { host } = createTestHost({ environments: [tally, workshop, auction] })
  const server = await serve(host)
  return { server, urlOf: (name: string) => `http://127.0.0.1:${server.port}/mcp/e/${name}` }
}

/** Sends one request of the stateless version, and resolves with its answer. */
async function ask(url: string, method: string, params: { readonly uri?: string } = {}) {
  const name = method === 'resources/read' ? params.uri : undefined
  return (await rpc(url, method, { ...params, _meta: MODERN_META }, modernHeaders(method, name))).json
}

async function skillAt(url: string): Promise<SkillEntry> {
  const { result } = await ask(url, 'skills/list')
  expect(result).toMatchObject({ resultType: 'complete', ttlMs: 300_000, cacheScope: 'public', skills: [{}] })
  const [entry] = (result?.skills ?? []) as unknown as SkillEntry[]
  return entry as SkillEntry
}

async function readText(url: string, uri: string): Promise<string> {
  const { result } = await ask(url, 'resources/read', { uri })
  expect(result?.contents).toMatchObject([{ uri, mimeType: 'text/markdown' }])
  return (result as unknown as { contents: [{ text: string }] }).contents[0].text
}

describe('the skill of an environment', () => {
  it.each(['tally', 'auction'])('says how %s is played, in a file that is what its entry says', async (name) => {
    const { urlOf } = await serveSkills()
    const entry = await skillAt(urlOf(name))
    const { uri, frontmatter, resources } = entry
    expect(uri).toBe(`skill://${name}/SKILL.md`)
    expect(frontmatter.name).toBe(name)
    const text = await readText(urlOf(name), uri)
    const bytes = Buffer.from(text)
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
    expect(resources).toEqual([{ uri, digest, size: bytes.length }])
    // JSON is YAML too.
    const [, named, described] = /^---\nname: (.*)\ndescription: (.*)\n---\n/.exec(text) ?? []
    expect(frontmatter).toEqual({ name: named, description: JSON.parse(described as string) })
    expect(text).toContain(`Begin with create_${name}`)
    const tools = (await ask(urlOf(name), 'tools/list')).result?.tools as unknown as { name: string }[]
    const played = tools.filter((tool) => !/^(create|destroy|join)_|^wait$/.test(tool.name))
    for (const tool of played) expect(text).toContain(`- \`${tool.name}\`: `)
    expect((await ask(urlOf(name), 'skills/get', { uri })).result).toMatchObject({
      resultType: 'complete',
      skill: entry,
      ttlMs: 300_000,
      cacheScope: 'public',
    })
  })

  it.each(['tally', 'auction', 'workshop'])(
    'is the same for all seeds and seats of %s, at each address',
    async (name) => {
      const { server, urlOf } = await serveSkills()
      const capabilities: string[] = []
      for (const seed of ['one seed', 'another seed']) {
        const { seats } = await openOverHttp(server, { environment: name, seed })
        capabilities.push(...Object.values(seats).map(({ capability }) => capability))
      }
      const urls = capabilities.map((capability) => server.sessionUrl(capability))
      // In an environment without a handle, an MCP session is an episode, and the version of skills has no sessions.
      const all = name === 'workshop' ? urls : [urlOf(name), ...urls]
      const [first, ...others] = await Promise.all(all.map(skillAt))
      for (const other of others) expect(other).toEqual(first)
      const texts = await Promise.all(all.map((url) => readText(url, first?.uri as string)))
      expect(new Set(texts).size).toBe(1)
    },
  )

  it('is the only one, and no file but its own', async () => {
    const { urlOf } = await serveSkills()
    for (const uri of ['skill://auction/SKILL.md', 'skill://tally/rules.md', 'skill://tally', 'file:///etc/passwd'])
      for (const method of ['skills/get', 'resources/read'])
        expect((await ask(urlOf('tally'), method, { uri })).error, `${method} ${uri}`).toMatchObject({ code: -32602 })
    expect((await ask(urlOf('tally'), 'skills/get')).error).toMatchObject({ code: -32602 })
    expect((await ask(urlOf('tally'), 'skills/write')).error).toMatchObject({ code: -32601 })
  })

  it('belongs to the version without sessions, where the server declares it', async () => {
    const { urlOf } = await serveSkills()
    const { result } = await ask(urlOf('tally'), 'server/discover')
    expect(result?.capabilities).toMatchObject({ resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } })
    const session = await initialize(urlOf('tally'))
    expect((await rpc(urlOf('tally'), 'skills/list', {}, session)).json.error).toMatchObject({ code: -32601 })
  })

  it.each(Object.entries(OFFICIAL_CLIENTS))('is an ordinary resource to the client of %s', async (_, connect) => {
    const { urlOf } = await serveSkills()
    const client = await connect(urlOf('tally'))
    expect(await client.readResource({ uri: 'skill://tally/SKILL.md' })).toMatchObject({
      contents: [{ uri: 'skill://tally/SKILL.md', text: expect.stringContaining('# Tally') }],
    })
  })
})
