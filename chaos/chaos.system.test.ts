import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { QUICK_PROGRAMS } from './quick-programs.ts'

const CHAOS = fileURLToPath(new URL('./chaos.ts', import.meta.url))

function run(args: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CHAOS, ...args], (error, out, err) =>
      resolve({ status: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

describe('pnpm chaos', () => {
  it('lists the programs for an unknown name', async () => {
    const { status, err } = await run(['stepp'])
    expect(status).toBe(2)
    expect(err).toContain('There is no program stepp. There is: ')
    for (const { args } of QUICK_PROGRAMS) expect(err).toContain(args[0])
  })

  it('lists the options of a program for an unknown option', async () => {
    const { status, err } = await run(['step', '--sed', '7'])
    expect(status).toBe(2)
    expect(err).toContain('--seed, --quick, --store')
  })

  it('ends with a failure that names the command to replay it', async () => {
    const { status, out, err } = await run(['step', '--store', 'paper', '--quick', '--seed', '7'])
    expect(status).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ name: 'step', ok: false, seed: '7', broken: 1 })
    expect(err).toContain('pnpm chaos step --store paper --seed 7 --quick')
  })

  it('finds steps that a network doubles where no protocol protects against it, and only there', async () => {
    const { status, out } = await run(['endpoints', '--network', 'doubles', '--quick', '--seed', '7'])
    const { ok, endpoints } = JSON.parse(out)
    expect([status, ok]).toEqual([1, false])
    for (const name of ['openenv-mcp', 'ors']) expect(endpoints[name].doubled).toBeGreaterThan(0)
    for (const name of ['openenv', 'nemo-gym', 'nemo-gym-first-cookie', 'nemo-gym-gymnasium', 'ors-confirm-calls'])
      expect(endpoints[name]).toMatchObject({ doubled: 0, lost: 0, wrong: 0 })
  })
})
