import { type Disk, MACHINE_BOUNDS, type Machine } from '@episodic/workspace'
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
  { player, machine, kit, session }: { player: Disk; machine: Machine; kit: string; session: string },
  signal: AbortSignal,
): Promise<TestRun> {
  const { script, passed } = LANGUAGES[language]
  const ran = await machine.run(
    {
      session,
      argv: ['bash', '-c', `PATH="$KIT/bin:$PATH"\n{ ${script}\n} 2>&1`],
      cwd: home,
      variables: { KIT: kit },
      disk: judged(player),
      folders: ['/workspace'],
      hidden: [],
      readOnly: [],
      stdin: new Uint8Array(),
      network: false,
      bounds: {
        ...MACHINE_BOUNDS,
        seconds: TEST_SECONDS,
        cpuSeconds: 2 * TEST_SECONDS,
        // Compilers write what they make into memory.
        memory: 4_294_967_296,
        processes: 1_024,
      },
    },
    signal,
  )
  const text = new TextDecoder().decode(ran.stdout).replaceAll(/\bin \d+\.\d+s\b/g, '')
  const count = [...text.matchAll(passed)].reduce((sum, [, found]) => sum + Number(found ?? 1), 0)
  // A program that ends early, or that skips tests, may end with 0 too.
  const ended = ran.ended ? `\nThe tests were ended: they needed too much ${ran.ended}.` : ''
  return { passed: ran.exitCode === 0 && count === tests, output: shortened(text) + ended }
}

function shortened(text: string): string {
  const left = text.length - SHOWN
  if (left <= 0) return text.toWellFormed()
  return `${text.slice(0, SHOWN / 2)}\n[${left} characters are left out]\n${text.slice(-SHOWN / 2)}`.toWellFormed()
}
