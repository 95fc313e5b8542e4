import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

describe('a server that is started wrongly', () => {
  it.each([
    ['shell/shell-server.ts', [], 'No folder was named to work in'],
    ['shell/shell-server.ts', ['nowhere'], 'nowhere is not a folder. Name one that exists'],
    ['files/files-server.ts', [import.meta.filename], 'starting.system.test.ts is not a folder'],
    ['shop/shop-server.ts', [], 'SHOP_PASSWORD'],
    ['database/database-server.ts', [], 'PGHOST, PGUSER and PGDATABASE say which'],
  ])('%s with the arguments %j says what it needs', (file, args, message) => {
    const server = fileURLToPath(new URL(file, import.meta.url))
    const env = { PATH: process.env.PATH, PGHOST: '/nowhere' }
    const { status, stdout, stderr } = spawnSync(process.execPath, [server, ...args], { env, encoding: 'utf8' })
    expect(stderr).toContain(message)
    // Standard output is the protocol's.
    expect([status, stdout]).toEqual([2, ''])
  })
})
