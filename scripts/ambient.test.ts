import { describe, expect, it } from 'vitest'
import { checkAmbient } from './ambient.ts'

describe('checkAmbient', () => {
  it.each([
    ['const x = Math.random()', 'Math.random'],
    ['const now = Date.now()', 'Date.now'],
    ['const now = new Date()', 'Date()'],
    ['const now = new Date', 'Date()'],
    ['const start = performance.now()', 'performance.now'],
    ["import { randomUUID } from 'node:crypto'", 'randomUUID'],
    ['const id = crypto.randomUUID()', 'randomUUID'],
    ['crypto.getRandomValues(bytes)', 'getRandomValues'],
    ['setTimeout(wake, 10)', 'setTimeout'],
    ['globalThis.setTimeout(wake, 10)', 'setTimeout'],
    ['const { sleep = setTimeout } = options', 'setTimeout'],
    ['const signal = AbortSignal.timeout(10)', 'AbortSignal.timeout'],
    ["console.log('hello')", 'console'],
  ])('finds what %s reaches for', (source, name) => {
    expect(checkAmbient('packages/state/src/lib/session.ts', `\n${source}`)).toEqual([`2: ${name}`])
  })

  it.each([
    'const now = new Date(record.createdAt)',
    'clock.setTimeout(wake, 10)',
    'interface Clock { setTimeout(wake: () => void): void }',
    'const clock = { setTimeout: wake }',
    "const text = 'console'",
    '// Math.random is not for us',
  ])('lets %s pass', (source) => {
    expect(checkAmbient('packages/state/src/lib/session.ts', source)).toEqual([])
  })

  it('lets the files on the list reach for what they own, and for nothing else', () => {
    expect(checkAmbient('packages/state/src/lib/clock.ts', 'Date.now(); setTimeout(wake); Math.random()')).toEqual([
      '1: Math.random',
    ])
    expect(checkAmbient('packages/mcp-server/src/lib/http/channel.ts', 'setTimeout(wake); Date.now()')).toEqual([
      '1: Date.now',
    ])
  })
})
