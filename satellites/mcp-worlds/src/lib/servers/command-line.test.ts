import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readMcpServer, targetOf, toName } from './command-line.ts'

describe('targetOf', () => {
  it.each([
    ['npx -y  @playwright/mcp --headless', { command: 'npx', args: ['-y', '@playwright/mcp', '--headless'] }],
    [
      `DB='a b' "my server" --q "say \\"hi\\"" back\\ slash ''`,
      { command: 'my server', args: ['--q', 'say "hi"', 'back slash', ''], env: { DB: 'a b' } },
    ],
    ['https://example.com/mcp', { url: 'https://example.com/mcp' }],
    [{ command: 'x' }, { command: 'x' }],
  ])('reads %s', (server, target) => {
    expect(targetOf(server)).toEqual(target)
  })
})

describe('toName', () => {
  it.each([
    ['npx -y @modelcontextprotocol/server-memory@2026.8.31', 'server-memory'],
    ['npx @playwright/mcp --headless', 'mcp'],
    ['uvx mcp-server-git --repository {folder}', 'mcp-server-git'],
    ['venv/bin/mcp-server-git', 'mcp-server-git'],
    ['node node_modules/@modelcontextprotocol/server-memory/dist/index.js', 'server-memory'],
    ['python -m mcp_server_time', 'mcp-server-time'],
    ['https://mcp.example.com/v1', 'mcp-example-com'],
    ['npx', 'npx'],
  ])('names %s', (server, name) => {
    expect(toName(targetOf(server))).toBe(name)
  })
})

describe('readMcpServer', () => {
  it('reads what other programs write, and chooses', () => {
    const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'mcp.json')
    writeFileSync(
      file,
      `{ // of Cursor
        "mcpServers": {
          "notes": { "type": "stdio", "command": "notes", "args": ["{folder}"], "env": { "KEY": "\${NOTES_KEY:-none}" }, "autoApprove": [] },
          "far": { "type": "http", "url": "https://example.com/mcp", "headers": { "X-Key": "k" } },
          "off": { "command": "nowhere", "disabled": true },
        },
      }`,
    )
    expect(readMcpServer(file, 'notes')).toEqual({ command: 'notes', args: ['{folder}'], env: { KEY: 'none' } })
    expect(readMcpServer(file, 'far')).toEqual({ url: 'https://example.com/mcp', headers: { 'X-Key': 'k' } })
    expect(() => readMcpServer(file)).toThrow(/has several servers, and none was chosen\. It has: notes, far/)
    expect(() => readMcpServer(file, 'nots')).toThrow(/has no server "nots"/)
  })
})
