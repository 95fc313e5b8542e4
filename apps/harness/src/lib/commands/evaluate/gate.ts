import { basename, resolve } from 'node:path'
import { type Baseline, findBaseline, writeBaseline } from '@episodic/analysis/gate/baseline'
import {
  type Condition,
  type GradeCondition,
  gradeConditions,
  marginText,
  numberCondition,
  shareCondition,
} from '@episodic/analysis/gate/condition'
import type { Conditions } from '@episodic/analysis/gate/figures'
import { type GateEntry, readEntries } from '@episodic/analysis/gate/gate-entry'
import { type GateResult, gateRuns } from '@episodic/analysis/gate/gate-runs'
import { readQuarantine, withoutOption } from '@episodic/analysis/quarantine/quarantine-file'
import { type Console, colorsOf, say, shownPath, unfiltered, usesColor } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { flag, option } from '@episodic/run/base/options'
import { openToAppend, writeWhole } from '@episodic/run/base/own-files'
import { tornNotice } from '@episodic/run/folder/record/report-run'
import { z } from 'zod'
import { concludeGate, formatGate } from '../../evaluate/gate/format-gate.ts'
import { formatJunit } from '../../evaluate/gate/gate-junit.ts'
import { defineCommand } from '../define-command.ts'

/** The status of a gate that says no. No error has it. */
const NOT_PASSED = 3

/** Of a summary, of which GitHub shows no more than 1 MiB. */
const MOST_CHARACTERS = 300_000

const share = (help: string) => option('<condition>', help, z.custom<Condition>().optional(), { text: shareCondition })
const number = (help: string) =>
  option('<condition>', help, z.custom<Condition>().optional(), { text: numberCondition })

const gateOptions = z.object({
  success: share("share of finished episodes that succeeded: '>=0.8' or '>=80%'"),
  return: number('mean unshaped return of an episode'),
  steps: number('mean steps of an episode'),
  tokens: number('mean tokens of an episode, read and written'),
  cost: number('mean cost of an episode, in the currency of the prices'),
  truncated: share('share of finished episodes that were cut off without success'),
  failed: share("share of scheduled episodes without a result, failed or not played (default: '<=5%')"),
  grade: option(
    '<condition>',
    "what a grader or a verdict of the world says: 'polite>=80%', 'quality>=3.5', 'tone: rude<=5%'; can be repeated",
    z.custom<readonly GradeCondition[]>().optional(),
    { text: gradeConditions },
  ),
  notWorse: option('<run|name>', 'a run, a set, a baseline, or a player of the set: see below'),
  writeBaseline: option('<name>', 'keep the figures as the baseline of this name, unless a condition is not met'),
  margin: option('<points>', 'with --not-worse: by how much success may be lower, as 3points', z.number().optional(), {
    text: marginText,
  }),
  undecided: option(
    '<verdict>',
    'what becomes of a condition whose interval reaches over the limit',
    z.enum(['fail', 'pass']).default('fail'),
  ),
  player: option('<player>', 'of a set: only the runs of this player'),
  seat: option('<seat>', 'of an environment of several seats: the seat to gate (default: the one in focus)'),
  without: withoutOption,
  junit: option('<file>', 'write JUnit XML, with a case for each condition and task'),
  json: flag('print the result as JSON'),
})
type GateCommandOptions = z.infer<typeof gateOptions>

/** Of episodes without a result, unless another limit is given. */
const FAILED: Condition = { way: '<=', limit: 0.05 }

export const command = defineCommand('gate', gateOptions, {
  argument: ['<run>', 'folder of a run, of a set of runs, or of a world of a set'],
  help: `
A condition is met if all of the 95 % interval of its figure is on the right
side of the limit, missed if none of it is, and else undecided: too few tasks.
Then it says how many would do. Of a set, every run has to meet all conditions.

--not-worse takes the folder of a run or a set, the name of a baseline, or of a
player of the same set. Success is compared task by task, with the baseline's
run of the same world and player, or else its first run of the world.

--write-baseline needs no condition. It writes baselines/<name>.json: how each
episode ended, its return, steps, tokens and cost, and the configuration with
its seeds. No text that was seen, said or done is in it. Commit the file, and
--not-worse <name> has what it compares with wherever the repository is.

In GitHub Actions a result that is no pass is annotated, and what is printed
without --json is added to the summary of the job.

Status: 0 passed, 3 not passed, 1 an error, 2 a usage error.

Examples:
  episodic gate runs/branch --success '>=80%' --cost '<=2'
  episodic gate runs/branch --not-worse runs/main --margin 3points
  episodic gate runs/main --write-baseline main
  episodic gate runs/branch --grade 'polite>=80%' --grade 'quality>=3.5'
  episodic gate runs/june --success '>=0.8' --junit gate.xml
  episodic gate runs/june --player new --not-worse old --margin 5points`,
  run: gate,
})

async function gate(run: string, options: GateCommandOptions, console: Console): Promise<void> {
  const { undecided, seat, junit, json, writeBaseline: kept } = options
  checkOptions(options)
  const all = await readEntries(run)
  const entries = ofPlayer(all, options.player)
  const keep = async ({ out }: Pick<Console, 'out'>) => {
    if (kept !== undefined) out.write(`${colorsOf(out).bold(shownPath(await writeBaseline(kept, entries)))}\n`)
  }
  if (!hasCondition(options)) return keep(console)
  const { failed = FAILED, grade: grades = [] } = options
  const result = await gateRuns(
    entries,
    { figures: { ...options, failed } as Conditions, grades, notWorse: await findNotWorse(all, options) },
    {
      ...{ seat, undecided, without: readQuarantine(options.without) },
      onTorn: (folder, line) => say(console.err, `${basename(folder)}: ${tornNotice(line)}`),
    },
  )
  if (junit !== undefined) await writeWhole(resolve(junit), formatJunit(result, { undecided }))
  if (process.env.GITHUB_ACTIONS === 'true') await reportToGitHub(result, console)
  const shown = json ? `${JSON.stringify(toJson(result))}\n` : formatGate(result, { color: usesColor(console.out) })
  console.out.write(shown)
  if (result.passed) return keep({ out: json ? console.err : console.out })
  process.exitCode = result.verdict === 'error' ? 1 : NOT_PASSED
}

function hasCondition(options: GateCommandOptions): boolean {
  const names = ['success', 'failed', 'truncated', 'return', 'steps', 'tokens', 'cost', 'grade', 'notWorse'] as const
  return names.some((name) => options[name] !== undefined)
}

function checkOptions(options: GateCommandOptions): void {
  const { notWorse, margin } = options
  if (!hasCondition(options) && options.writeBaseline === undefined)
    throw invalidOption("A gate needs a condition, for example --success '>=80%' or --not-worse main --margin 3points.")
  if (notWorse !== undefined && margin === undefined)
    throw invalidOption('--not-worse needs --margin: by how many points success may be lower, for example 3points.')
  if (notWorse === undefined && margin !== undefined) throw invalidOption('--margin is of --not-worse: give both.')
}

function ofPlayer(entries: readonly GateEntry[], player: string | undefined): readonly GateEntry[] {
  if (player === undefined) return entries
  const own = entries.filter((entry) => entry.player === player)
  if (own.length > 0) return own
  const players = [...new Set(entries.flatMap((entry) => entry.player ?? []))]
  throw invalidOption(
    players.length > 0
      ? `--player ${player} is no player of the set: ${players.join(', ')}.`
      : '--player chooses the runs of a set, and this is one run: leave it out.',
  )
}

async function findNotWorse(
  entries: readonly GateEntry[],
  { notWorse, margin }: GateCommandOptions,
): Promise<{ readonly baseline: Baseline; readonly margin: number } | null> {
  if (notWorse === undefined || margin === undefined) return null
  const ofSet = entries.filter(({ player }) => player === notWorse)
  return { margin, baseline: await findBaseline(notWorse, ofSet) }
}

/** Annotates a job, and adds to its summary. The runner reads annotations from both streams. */
async function reportToGitHub(result: GateResult, { err }: Console): Promise<void> {
  const { verdict, passed } = result
  const conclusion = concludeGate(result)
  if (verdict !== 'met') unfiltered(err).write(`::${passed ? 'warning' : 'error'} title=episodic gate::${conclusion}\n`)
  const file = process.env.GITHUB_STEP_SUMMARY
  if (!file) return
  // Indented, a text of unknown origin is no markup, and nothing in it ends the block.
  const shown = formatGate(result, { color: false }).slice(0, MOST_CHARACTERS).replace(/^/gm, '    ')
  try {
    await using handle = await openToAppend(file)
    await handle.appendFile(`## ${passed ? '✅' : '❌'} ${conclusion}\n\n${shown}\n`)
  } catch (cause) {
    throw new HarnessError('disk-failed', `Cannot write ${file}: ${(cause as Error).message}`, { cause })
  }
}

function toJson({ verdict, passed, runs }: GateResult) {
  return { format: 1, verdict, passed, runs: runs.map(({ tasks, ...run }) => ({ ...run, tasks: tasks.length })) }
}
