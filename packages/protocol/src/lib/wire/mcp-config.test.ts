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

  it('throws the error that the caller chooses, and keeps the cause', () => {
    expect(() => parse({ one: { url: 'localhost' } })).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^The configuration is wrong at mcpServers\.one\.url: /),
        cause: expect.any(z.ZodError),
      }),
    )
    expect(() => parse({ one: { provider: 5 } })).toThrow(/mcpServers\.one: it needs either a url or a command/)
  })
})
