/**
 * `node chaos/quick.ts [<name> [option…]]`: runs the quick form of one program, or of every program, with a fixed seed,
 * and compares what it found with what it has to find.
 *
 * Exits with 1 if one of them found something else, and with 77 if none could run because a program of the system is
 * missing. In CI it has to be there.
 */
import { partialDeepStrictEqual } from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { QUICK_PROGRAMS, type QuickProgram } from './quick-programs.ts'

const asked = process.argv.slice(2).join(' ')
const chosen = QUICK_PROGRAMS.filter(({ args }) => asked === '' || asked === args.join(' '))
if (chosen.length === 0) throw new Error(`There is no quick form of ${asked}.`)

const outcomes = new Set<Outcome>()
for (const program of chosen) outcomes.add(await check(program))
if (outcomes.has('failed')) process.exitCode = 1
else if (!outcomes.has('passed')) process.exitCode = 77

type Outcome = 'passed' | 'failed' | 'skipped'

async function check({ args, needs, figures }: QuickProgram): Promise<Outcome> {
  if (needs && !process.env.CI && spawnSync('which', [needs]).status !== 0) {
    console.log(`– ${args.join(' ')}: install ${needs} (apt-get install ${needs === 'bwrap' ? 'bubblewrap' : needs})`)
    return 'skipped'
  }
  const { status, out, err } = await run([...args, '--quick', '--seed', '7'])
  try {
    const line = JSON.parse(out.trim().split('\n').at(-1) ?? '')
    partialDeepStrictEqual(line, { name: args[0], ok: true, seed: '7', broken: 0, ...figures })
    if (status !== 0) throw new Error(`It exited with ${status}.`)
    console.log(`✓ ${args.join(' ')}`)
    return 'passed'
  } catch (cause) {
    console.log(`✗ ${args.join(' ')}: ${(cause as Error).message}\n${out}${err}`)
    return 'failed'
  }
}

function run(args: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(import.meta.dirname, 'chaos.ts'), ...args], (error, out, err) =>
      resolve({ status: error === null ? 0 : Number(error.code), out, err }),
    )
  })
}
