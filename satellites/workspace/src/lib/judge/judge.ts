import { createDisk, type NewFile } from '../disk/create-disk.ts'
import type { ReadOnlyDisk } from '../disk/disk.ts'
import { readFile } from '../disk/read-disk.ts'
import { quoted } from '../quoted.ts'
import { type CommandOptions, type CommandResult, runOver } from '../tools/run-command.ts'
import { type Judgement, toJudgement } from './judgement.ts'

/** What goes into a program that is judged, and what has to come out. */
export interface JudgeTest {
  /** Default: its number, from 1. */
  readonly name?: string
  /** Arguments after the command line, each as it is. */
  readonly args?: readonly string[]
  readonly stdin?: string
  /** Files that are on the disk for this test alone, over those of the candidate. */
  readonly files?: Readonly<Record<string, NewFile>>
  /** What has to be printed, to the last byte. */
  readonly stdout?: string
  /** Default 0, unless `compare` decides. */
  readonly exitCode?: number
  /** The texts of files that have to be there afterwards, by absolute path. */
  readonly after?: Readonly<Record<string, string>>
}

export interface JudgedRun extends CommandResult {
  readonly disk: ReadOnlyDisk
}

export interface JudgeOptions<Test extends JudgeTest> extends Omit<CommandOptions, 'files' | 'stdin'> {
  /** The command line that runs the program, in `cwd`. */
  readonly run: string
  readonly tests: readonly Test[]
  /**
   * Whether what came out is right, for answers that have several forms. Default: `stdout`, `exitCode` and `after` of
   * the test are compared.
   */
  readonly compare?: (run: JudgedRun, test: Test) => boolean
}

/**
 * Judges a program by what comes out of it: each test runs it over a copy of the disk of its own, which has no test and
 * no right answer on it, and what it printed, its exit code and its files are compared outside. So the program can win
 * by right outputs alone: it cannot read answers, patch what compares, or end it early.
 *
 * Nothing that a program does in one test is there in the next. What the shell of the agent has set, such as `PATH`,
 * aliases and variables, is not set.
 *
 * Throws a `TypeError` without tests, and for a test that a program passes by ending: one that neither has `stdout` or
 * `after`, nor is compared by `compare`.
 */
export async function judge<Test extends JudgeTest>(
  disk: ReadOnlyDisk,
  { run, tests, compare, ...options }: JudgeOptions<Test>,
): Promise<Judgement> {
  const named = tests.map((test, i) => [test.name ?? String(i + 1), test] as const)
  for (const [name, { stdout, after }] of named)
    if (!compare && stdout === undefined && after === undefined)
      throw new TypeError(
        `Test ${name} of a judge asks for no output, so a program that just ends would pass it. Give it \`stdout\`, \`after\`, or give \`compare\`.`,
      )
  const judged = named.map(async ([name, test]) => {
    const { args = [], stdin, files = {} } = test
    const ran = await runOver(disk, [run, ...args.map(quoted)].join(' '), {
      ...options,
      files: createDisk(files),
      ...(stdin !== undefined && { stdin }),
    })
    const why = compare ? (compare(ran, test) ? null : shown(ran)) : differenceOf(ran, test)
    return [name, why] as const
  })
  return toJudgement(await Promise.all(judged))
}

function differenceOf(ran: JudgedRun, { stdout, exitCode = 0, after = {} }: JudgeTest): string | null {
  if (ran.exitCode !== exitCode) return `exit code ${ran.exitCode}, and not ${exitCode}. ${shown(ran)}`
  if (stdout !== undefined && ran.stdout !== stdout) return `not ${JSON.stringify(stdout)}. ${shown(ran)}`
  for (const [path, text] of Object.entries(after)) {
    const found = readFile(ran.disk, path)
    if (found !== text) return `${path} is ${JSON.stringify(found)}, and not ${JSON.stringify(text)}. ${shown(ran)}`
  }
  return null
}

export function shown({ stdout, stderr, exitCode }: CommandResult): string {
  return `Printed ${JSON.stringify(stdout.slice(-150))} and ${JSON.stringify(stderr.slice(-150))}, exit code ${exitCode}.`
}
