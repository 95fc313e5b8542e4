// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of a configuration are written that way
import { describe, expect, it } from 'vitest'
import { parseMcpServers } from './parse-mcp-servers.ts'

const parse = (mcpServers: unknown, variables = {}) => parseMcpServers(JSON.stringify({ mcpServers }), variables)

describe('parseMcpServers', () => {
  it('reads URLs and commands, and drops the type field', () => {
    expect(
      parse({
        remote: { type: 'streamable-http', url: 'https://example.test/env', headers: { 'X-Team': 'a' }, token: 't' },
        local: { type: 'stdio', command: 'npx', args: ['-y', 'some-server'], env: { HOME: '/tmp' }, cwd: '/srv' },
      }),
    ).toEqual(
      new Map<string, unknown>([
        ['remote', { url: 'https://example.test/env', headers: { 'X-Team': 'a' }, token: 't' }],
        ['local', { command: 'npx', args: ['-y', 'some-server'], env: { HOME: '/tmp' }, cwd: '/srv' }],
      ]),
    )
  })

  it('fills in variables wherever they stand, and not what they hold', () => {
    const servers = parse(
      { one: { command: '${BIN}/serve', args: ['--key=${KEY}', '${KEY}${KEY}'], env: { KEY: '${KEY}' } } },
      { BIN: '/opt', KEY: '${BIN}' },
    )
    expect(servers.get('one')).toEqual({
      command: '/opt/serve',
      args: ['--key=${BIN}', '${BIN}${BIN}'],
      env: { KEY: '${BIN}' },
    })
  })

  it('reads files as other programs write them', () => {
    const text = `\ufeff{
      // The servers of this machine.
      "mcpServers": {
        "one": { "command": "npx", "args": ["//x", "/* y */", "a,]"], "disabled": false, "autoApprove": ["*"], "timeout": 60, },
        /* "two": {},
        */
        "three": { "url": "http://x.test/mcp", "transport": "streamable-http", "alwaysAllow": [], "headers": null, },
      },
    }`
    expect(parseMcpServers(text, {})).toEqual(
      new Map<string, unknown>([
        ['one', { command: 'npx', args: ['//x', '/* y */', 'a,]'] }],
        ['three', { url: 'http://x.test/mcp' }],
      ]),
    )
  })

  it('leaves out a server that another program does not use, unless it is named', () => {
    const text = JSON.stringify({
      servers: {
        off: { command: 'off', disabled: true },
        inactive: { command: 5, enabled: false },
        on: { command: 'on', startup_timeout_sec: 40 },
      },
    })
    const on = new Map([['on', { command: 'on', startSeconds: 40 }]])
    expect(parseMcpServers(text, {})).toEqual(on)
    expect(parseMcpServers(text, {}, (enabled) => (enabled.length === 1 ? enabled[0] : ''))).toEqual(on)
    expect(parseMcpServers(text, {}, 'off')).toEqual(new Map([['off', { command: 'off' }]]))
  })

  it('says of a server with the HTTP of 2024-11-05 what is spoken', () => {
    const text = JSON.stringify({ mcpServers: { old: { type: 'sse', url: 'http://x.test/sse' } } })
    expect(() => parseMcpServers(text, {})).toThrow(/mcpServers\.old\.type: .*SSE of 2024-11-05 is not spoken here/)
  })

  it('checks only the server that is used', () => {
    const text = JSON.stringify({
      mcpServers: { used: { command: 'npx' }, other: { sse: true, env: '${NO}' }, text: 'x' },
    })
    expect(parseMcpServers(text, {}, 'used')).toEqual(new Map([['used', { command: 'npx' }]]))
    expect(() => parseMcpServers(text, {})).toThrow(/mcpServers\.other/)
  })

  it('fills in variables as other programs write them', () => {
    const servers = parse(
      { one: { command: '${env:BIN}', args: ['${NO:-a b}', '${BIN:-x}', '${NO:-}', '${#a}'] } },
      { BIN: 'b' },
    )
    expect(servers.get('one')).toEqual({ command: 'b', args: ['a b', 'b', '', '${#a}'] })
  })

  it('leaves the rest of the file alone', () => {
    expect(parseMcpServers('{"theme": "${NOT_SET}", "mcpServers": {}}', {}).size).toBe(0)
  })

  it.each<[what: string, server: unknown, at: string, why: RegExp]>([
    ['neither a URL nor a command', { args: [] }, 'mcpServers.mine', /either a url or a command/],
    ['no entry', 'npx', 'mcpServers.mine', /expected object/],
    ['a number as an argument', { command: 'npx', args: [7] }, 'mcpServers.mine.args.0', /expected string/],
    ['an empty command', { command: '' }, 'mcpServers.mine.command', /Too small/],
    ['a misspelt key', { command: 'npx', arguments: [] }, 'mcpServers.mine', /"arguments"/],
    ['a URL of another protocol', { url: 'ws://localhost' }, 'mcpServers.mine.url', /Invalid URL/],
    ['no URL', { url: 'localhost' }, 'mcpServers.mine.url', /Invalid URL/],
    ['an old transport', { type: 'sse', url: 'http://localhost' }, 'mcpServers.mine.type', /Invalid option/],
    ['both', { command: 'npx', url: 'http://localhost' }, 'mcpServers.mine', /"url"/],
    [
      'a variable that is not set',
      { command: 'npx', env: { A: '${NO}' } },
      'mcpServers.mine.env.A',
      /NO, which is not/,
    ],
    ['a placeholder of another program', { command: '${input:key}' }, 'mcpServers.mine.command', /\$\{input:key\}/],
    ['a variable that is no variable', { command: '${toString}' }, 'mcpServers.mine.command', /toString, which is not/],
  ])('names server and field of an entry with %s', (_, server, at, why) => {
    const error = expect.objectContaining({
      name: 'EnvError',
      code: 'config-invalid',
      message: expect.stringMatching(new RegExp(`at ${at.replaceAll('.', '\\.')}: .*${why.source}`)),
    })
    expect(() => parse({ fine: { command: 'npx' }, mine: server })).toThrow(error)
  })

  it.each(['', 'mcpServers', '[]', '{}', '{"mcpServers": []}', 'null'])('refuses a file of %j', (text) => {
    expect(() => parseMcpServers(text, {})).toThrow(expect.objectContaining({ code: 'config-invalid' }))
  })
})
