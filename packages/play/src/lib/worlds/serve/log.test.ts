import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createLog, type LogLevel, redact } from './log.ts'

/** A log and what it has written. */
function logTo({ isTTY = false, level = 'info' as LogLevel } = {}) {
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY })
  const log = createLog(stream as unknown as NodeJS.WriteStream, level)
  return { log, written: () => (stream.read() as string | null) ?? '' }
}

describe('createLog', () => {
  it('writes JSON lines if the output is not a terminal', () => {
    const { log, written } = logTo()
    log.info({ calls: 2 }, 'stopping')
    log.error({ err: new Error('no', { cause: new Error('why') }) }, 'failed')
    const lines = written().split('\n')
    expect(JSON.parse(lines[0] as string)).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      pid: process.pid,
      calls: 2,
      msg: 'stopping',
    })
    expect(JSON.parse(lines[1] as string)).toMatchObject({
      level: 'error',
      err: { type: 'Error', message: expect.stringContaining('no'), stack: expect.stringContaining('why') },
    })
  })

  it('writes readable lines to a terminal', () => {
    const { log, written } = logTo({ isTTY: true })
    log.warn({ endpoint: 'agent', calls: 3 }, 'look here')
    log.error({ err: new Error('it broke') }, 'failed')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a terminal
    const plain = written().replace(/\u001b\[\d+m/g, '')
    expect(plain).toMatch(/^\d\d:\d\d:\d\d warn {2}look here endpoint=agent calls=3\n/)
    expect(plain).toMatch(/^\d\d:\d\d:\d\d error failed\nError: it broke\n +at /m)
  })

  it('omits entries below its level', () => {
    const { log, written } = logTo({ level: 'warn' })
    log.info('not this')
    log.warn('but this')
    expect(written()).toMatch(/but this/)
    const quiet = logTo({ level: 'silent' })
    quiet.log.fatal('nothing')
    expect(quiet.written()).toBe('')
  })

  it('never writes a secret, in any field', () => {
    const secret = 'chosen-by-the-operator'
    const handle = `ctl_${'aB3-_'.repeat(9)}`.slice(0, 48)
    for (const isTTY of [false, true]) {
      const { log, written } = logTo({ isTTY })
      log.hide(secret)
      log.info({ headers: { authorization: 'Bearer abc.def' }, url: `/mcp/s/cap_0${'x'.repeat(44)}` }, handle)
      log.error({ err: new Error(`no ${secret} and ${handle}`) }, `eyJhbGciOi.eyJzdWIi.c2ln of ${secret}`)
      const text = written()
      expect(text.match(/\[hidden\]/g)?.length).toBeGreaterThanOrEqual(6)
      expect(text).not.toMatch(/aB3-_|abc\.def|xxxx|chosen-by|c2ln/)
    }
  })
})

describe('redact', () => {
  it('does not change texts without secrets', () => {
    const text = '{"id":"VlFUjxhhde4E9ZUWQ4wZIg","msg":"a bear, a cap_ and the ctl_short one"}'
    expect(redact(text)).toBe(text)
  })

  it.each(['ctl', 'cap', 'sct', 'ply', 'inv', 'mcp'])('hides every token that begins with %s_', (prefix) => {
    expect(redact(`{"token":"${prefix}_0${'x'.repeat(44)}"}`)).toBe(`{"token":"${prefix}_[hidden]"}`)
  })
})
