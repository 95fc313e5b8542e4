// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of a configuration are written that way
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseMcpConfig, urlEntrySchema } from './mcp-config.ts'

class Provider {
  readonly name = '${KEY}'
}

const fail = (message: string, cause?: unknown) => new Error(message, { cause })
const live = z.custom<object>((value) => typeof value === 'object')
const urlSchema = urlEntrySchema.extend({ provider: live.optional() })
const parse = (mcpServers: object, variables?: Record<string, string>) =>
  parseMcpConfig({ mcpServers }, { urlSchema, variables, fail })

const COMMAND = { command: 'node', args: ['a'], env: { A: '1' } }

describe('parseMcpConfig', () => {
  it('fills in variables in what a file could say, and leaves live things as they are', () => {
    const provider = { name: '${KEY}', tokens: () => undefined }
    const servers = parse(
      {
        plain: { url: 'http://${HOST}/mcp', headers: { key: '${KEY}' }, provider },
        made: { url: 'http://${HOST}/mcp', provider: new Provider() },
      },
      { HOST: 'example.test', KEY: 'k' },
    )
    expect(servers.get('plain')).toEqual({ url: 'http://example.test/mcp', headers: { key: 'k' }, provider })
    expect((servers.get('plain') as { provider: object }).provider).toBe(provider)
    expect((servers.get('made') as { provider: object }).provider).toEqual(new Provider())
  })

  it('leaves everything as it is where there are no variables', () => {
    expect(parse({ one: { command: '${BIN}' } })).toEqual(new Map([['one', { command: '${BIN}' }]]))
  })

  it.each<[string, object]>([
    ['in `servers`', { servers: { one: COMMAND } }],
    [
      'with numbers and nulls in its environment',
      { mcpServers: { one: { command: 'node', args: ['a'], env: { A: 1, B: null } } } },
    ],
    ['in the settings of Visual Studio Code', { mcp: { inputs: [], servers: { one: COMMAND } } }],
    ['in the settings of Zed', { context_servers: { one: { source: 'custom', ...COMMAND } } }],
    [
      'in older settings of Zed',
      { context_servers: { one: { command: { path: 'node', args: ['a'], env: { A: '1' } }, settings: {} } } },
    ],
    ['in the settings of Amp', { 'amp.mcpServers': { one: COMMAND } }],
    [
      'in the file of OpenCode',
      { mcp: { one: { type: 'local', command: ['node', 'a'], environment: { A: '1' }, enabled: true } } },
    ],
    ['with the arguments in its command', { mcpServers: { one: { command: ['node', 'a'], env: { A: '1' } } } }],
  ])('reads a command %s as meant', (_, config) => {
    const servers = parseMcpConfig(config, { urlSchema, fail })
    expect(servers.get('one')).toEqual(COMMAND)
  })

  it('reads a server of OpenCode at a URL', () => {
    const config = { mcp: { one: { type: 'remote', url: 'http://a.test/mcp' } } }
    expect(parseMcpConfig(config, { urlSchema, fail }).get('one')).toEqual({ url: 'http://a.test/mcp' })
    const wrong = { mcp: { servers: { one: { url: 'localhost' } } } }
    expect(() => parseMcpConfig(wrong, { urlSchema, fail })).toThrow(/wrong at mcp\.servers\.one\.url/)
  })

  it.each(['serverUrl', 'httpUrl'])('reads the URL that others call %s', (key) => {
    expect(parse({ one: { [key]: 'http://a.test/mcp' } }).get('one')).toEqual({ url: 'http://a.test/mcp' })
  })

  it('throws the error that the caller chooses, and keeps the cause', () => {
    expect(() => parse({ one: { url: 'localhost' } })).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^The configuration is wrong at mcpServers\.one\.url: /),
        cause: expect.any(z.ZodError),
      }),
    )
    expect(() => parse({ one: { command: 'npx', args: '-y a-server' } })).toThrow(
      /mcpServers\.one\.args: Invalid input: expected a list of texts, such as \["-y", "a-server"\]\.$/,
    )
    expect(() => parse({ one: { provider: 5 } })).toThrow(/mcpServers\.one: it needs either a url or a command/)
  })
})
