import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const bench = async (...args: string[]) => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'bench.ts'), ...args])
  return stdout
}

describe('pnpm bench', () => {
  it('lists the benchmarks with --help, and runs none', async () => {
    const help = await bench('--help')
    expect(help).toMatch(/^Usage: pnpm bench /)
    for (const name of ['agent', 'http', 'run', 'self-play', 'workspace']) expect(help).toContain(name)
  })

  it('says what a benchmark measures, and its options', async () => {
    expect(await bench('view', '--help')).toMatch(/^view\n\n`episodic view` on a run.*\n.*--episodes <number>/s)
    expect(await bench('store', '--help')).toMatch(/^store\n\nSQLite with 64 sessions in flight, .*\n$/)
  })
})
