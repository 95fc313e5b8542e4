import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

// The quick form of every program, as a child process, with a fixed seed. Those that need a program of the system are
// skipped where it is missing, and fail in CI, where it has to be there.

const CHAOS = fileURLToPath(new URL('./chaos.ts', import.meta.url))

/** Every program, with what it needs of the system and what it has to have found besides `ok`. */
const PROGRAMS: readonly {
  readonly args: readonly string[]
  readonly needs?: 'redis-server' | 'strace'
  readonly figures: Readonly<Record<string, unknown>>
}[] = [
  {
    args: ['step', '--store', 'sqlite'],
    figures: { steps: 2_000, kills: 4, lost: 0, doubled: 0, unstable: 0, wrongSums: 0 },
  },
  {
    args: ['step', '--store', 'redis'],
    needs: 'redis-server',
    figures: { steps: 2_000, kills: 4, lost: 0, doubled: 0, unstable: 0, wrongSums: 0 },
  },
  { args: ['crashpoints'], needs: 'strace', figures: { points: 10, killed: 10 } },
  { args: ['redis'], needs: 'redis-server', figures: { kills: 2, lost: 0, doubled: 0, rolledBack: 64, silent: 0 } },
  { args: ['zombie'], needs: 'redis-server', figures: { writers: 20, acceptedAfter: 0 } },
  { args: ['isolation'], figures: { sessions: 32, kills: 1, foreignBytes: 0, differing: 0 } },
  { args: ['files'], needs: 'strace', figures: { points: 4, killed: 4 } },
  { args: ['hog'], figures: { errors: 0, busyHog: 'answered', endlessHog: 'environment-failed' } },
  { args: ['leak'], figures: { differing: 0, sightings: 0, planted: 26, caught: 26 } },
  {
    args: ['fuzz'],
    figures: Object.fromEntries(
      ['http', 'stdio', 'in-process'].map((door) => [door, { sent: 1_500, hangs: 0, failed: 0, exits: 0 }]),
    ),
  },
  { args: ['slowloris'], figures: { errors: 0 } },
  { args: ['agents'], figures: { agents: 50, kills: 1, late: 0 } },
  { args: ['drain'], figures: { status: 0, lost: 0, doubled: 0 } },
]

function run(args: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CHAOS, ...args], (error, out, err) =>
      resolve({ status: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}

function isMissing(program: string): boolean {
  return spawnSync('which', [program]).status !== 0
}

describe('pnpm chaos, the quick form', () => {
  for (const { args, needs, figures } of PROGRAMS) {
    const missing = needs !== undefined && !process.env.CI && isMissing(needs)
    const title = missing ? `${args.join(' ')} (install it: apt-get install ${needs})` : args.join(' ')
    it.skipIf(missing)(title, { timeout: 180_000 }, async () => {
      const { status, out, err } = await run([...args, '--quick', '--seed', '7'])
      const line = JSON.parse(out.trim().split('\n').at(-1) ?? '')
      expect(line, err).toMatchObject({ name: args[0], ok: true, seed: '7', broken: 0, ...figures })
      expect(status).toBe(0)
    })
  }

  it('lists what there is for a name that is none', async () => {
    const { status, err } = await run(['stepp'])
    expect(status).toBe(2)
    expect(err).toContain('There is no program stepp. There is: ')
    for (const { args } of PROGRAMS) expect(err).toContain(args[0])
  })

  it('says what a program takes for an option that is none', async () => {
    const { status, err } = await run(['step', '--sed', '7'])
    expect(status).toBe(2)
    expect(err).toContain('--seed, --quick, --store')
  })

  it('ends with a failure that says how to replay it', async () => {
    const { status, out, err } = await run(['step', '--store', 'paper', '--quick', '--seed', '7'])
    expect(status).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ name: 'step', ok: false, seed: '7', broken: 1 })
    expect(err).toContain('pnpm chaos step --store paper --seed 7 --quick')
  })
})
