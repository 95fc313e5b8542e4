import { stripVTControlCharacters } from 'node:util'
import { type Command, runCommand } from '../run-command.ts'

/** One thing that must hold, said as a command that anyone can run by hand. */
export interface Check {
  readonly name: string
  readonly command: Command
  /** Part of `--quick`: what is worth waiting for between two edits. */
  readonly quick?: true
  /** Uses what another check uses too: no other one runs beside it. */
  readonly alone?: true
  /** Left out of `npm test`: part of `--all`, which CI runs. */
  readonly all?: true
  /** The lines of its output that are printed though it has passed. */
  readonly shows?: RegExp
  /** Part of `--nightly` alone: what takes hours, or draws fresh seeds. */
  readonly nightly?: true
  /** Names of the checks whose results it needs. It starts after them, whether they passed or not. */
  readonly after?: readonly string[]
  /**
   * Counts what the command checked, for a command that checks many things. By default a command counts as one.
   *
   * @param ended - whether it ended with 0.
   */
  readonly count?: (ended: boolean) => Promise<Counted>
}

export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** What a command checked that checks many things. */
export interface Counted extends Tally {
  /** What took longest, a line each, the slowest first, where it took a while. */
  readonly slowest?: readonly string[]
  /** The packages that were not checked again: they have passed, and nothing that they depend on has changed since. */
  readonly unchanged?: readonly string[]
}

export interface Verdict extends Tally, Partial<Omit<Counted, keyof Tally>> {
  readonly output: string
}

/** The exit code of a command that could not check anything, because a program is not installed here. */
const SKIPPED = 77

/** Runs a check. Never rejects: whatever goes wrong is a failure of that check, so that the others still run. */
export async function runCheck({ command, count }: Check, signal: AbortSignal): Promise<Verdict> {
  const result = await runCommand(command, { signal })
  const output = stripVTControlCharacters(result.output).trim()
  if (!count) {
    const [passed, skipped] = [result.code === 0, result.code === SKIPPED]
    return { passed: Number(passed), failed: Number(!passed && !skipped), skipped: Number(skipped), output }
  }
  try {
    const tally = await count(result.code === 0)
    // A run can fail with no failing test: a file that does not load, an error after the last test.
    return { ...tally, failed: result.code === 0 ? tally.failed : Math.max(1, tally.failed), output }
  } catch (cause) {
    return { passed: 0, failed: 1, skipped: 0, output: `${output}\nNothing could be counted: ${cause}` }
  }
}

/** How many are named as the slowest. */
const SLOWEST = 10

/** Says what took longest, a line each, the slowest first. */
export function slowest(timed: readonly { readonly name: string; readonly seconds: number }[]): string[] {
  return timed
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${name}`)
}

/** Adds tallies up. */
export function total(tallies: Iterable<Tally>): Tally {
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for (const { passed, failed, skipped } of tallies) {
    sum.passed += passed
    sum.failed += failed
    sum.skipped += skipped
  }
  return sum
}

/** Says a tally in one line, which is the last that `verify` prints: `12 passed, 0 failed, 1 skipped`. */
export function sayTally({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
