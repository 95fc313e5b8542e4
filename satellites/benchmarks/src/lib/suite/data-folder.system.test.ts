import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { BenchmarkError, dataFolder } from './data-folder.ts'

const shelf = mkdtempSync(join(tmpdir(), 'episodic-benchmarks-'))
vi.stubEnv('EPISODIC_BENCHMARKS', shelf)
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(shelf, { recursive: true })
})

describe('dataFolder', () => {
  it('names the command that gets what is missing', () => {
    const error = (() => {
      try {
        return dataFolder('tau2')
      } catch (thrown) {
        return thrown
      }
    })()
    expect(BenchmarkError.is(error, 'suite-data-missing')).toBe(true)
    expect((error as Error).message).toContain('episodic suite get tau2')
  })

  it('is the folder of the suite', () => {
    mkdirSync(join(shelf, 'polyglot'))
    expect(dataFolder('polyglot')).toBe(join(shelf, 'polyglot'))
  })
})
