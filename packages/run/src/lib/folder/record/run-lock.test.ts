import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { lockRun } from './run-lock.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('lockRun', () => {
  it('rejects a second writer until the first is done', () => {
    const run = join(folder, 'made/on the way')
    {
      using _ = lockRun(run)
      expect(() => lockRun(run)).toThrow(expect.objectContaining({ code: 'run-locked' }))
      // The rejected writer has not removed the lock.
      expect(() => lockRun(run)).toThrow(expect.objectContaining({ code: 'run-locked' }))
      using __ = lockRun(join(folder, 'another'))
    }
    using _ = lockRun(run)
    expect(statSync(join(run, 'run.lock')).size).toBe(0)
  })

  it('names the folder that it cannot lock', () => {
    writeFileSync(join(folder, 'file'), '')
    expect(() => lockRun(join(folder, 'file/run'))).toThrow(
      expect.objectContaining({
        code: 'disk-failed',
        message: expect.stringContaining(`${folder}/file is not a folder`),
      }),
    )
  })

  it('detects that its file was removed or replaced', () => {
    const run = join(folder, 'removed')
    using lock = lockRun(run)
    lock.assertHeld()
    rmSync(join(run, 'run.lock'))
    expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ code: 'run-locked' }))
    using other = lockRun(run)
    expect(() => lock.assertHeld()).toThrow(/removed or replaced/)
    other.assertHeld()
  })
})
