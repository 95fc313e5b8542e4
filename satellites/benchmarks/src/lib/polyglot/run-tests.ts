import { type Disk, judge, type Machine } from '@episodic/workspace'
import type { Exercise } from './exercises.ts'
import { LANGUAGES } from './languages.ts'

export interface TestRun {
  readonly passed: boolean
  /** What they printed, without the time that they took. */
  readonly output: string
}

/** Seconds that tests may take, as in the original. */
export const TEST_SECONDS = 180

/** Characters of an output that a player reads: half from its beginning, half from its end. */
const SHOWN = 16_000

/** Runs the tests of an exercise over what a player hands in, on a machine that sees the folder `kit`. */
export async function runTests(
  { language, home, judged, tests }: Exercise,
  { player, machine, kit }: { player: Disk; machine: Machine; kit: string },
  signal: AbortSignal,
): Promise<TestRun> {
  const { script, passed } = LANGUAGES[language]
  let output = ''
  const judgement = await judge(judged(player), {
    run: `export KIT='${kit}' PATH='${kit}/bin':"$PATH"\n{ ${script}\n} 2>&1`,
    tests: [{}],
    // A program that ends early, or that skips tests, may end with 0 too.
    compare({ stdout, stderr, exitCode }) {
      const text = stdout.replaceAll(/\bin \d+\.\d+s\b/g, '')
      output = shortened(text) + stderr
      return (
        exitCode === 0 && [...text.matchAll(passed)].reduce((sum, [, found]) => sum + Number(found ?? 1), 0) === tests
      )
    },
    // Compilers write what they make into memory.
    bounds: { cpuSeconds: 2 * TEST_SECONDS, memory: 4_294_967_296, processes: 1_024 },
    ...{ machine, signal, cwd: home, folders: ['/workspace'], seconds: TEST_SECONDS },
  })
  return { passed: judgement.passed === 1, output }
}

function shortened(text: string): string {
  const left = text.length - SHOWN
  if (left <= 0) return text.toWellFormed()
  return `${text.slice(0, SHOWN / 2)}\n[${left} characters are left out]\n${text.slice(-SHOWN / 2)}`.toWellFormed()
}
