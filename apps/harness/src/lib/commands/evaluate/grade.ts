import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type FoundGrader, findGraders, isOwnGrader } from '@episodic/analysis/grade/find-graders'
import { formatGrades } from '@episodic/analysis/grade/format-grades'
import { type GradableRun, openGradableRun } from '@episodic/analysis/grade/gradable-run'
import {
  type GradedRun,
  type GradeProgress,
  type GradeRunOptions,
  gradeRun,
  type TokenBudget,
} from '@episodic/analysis/grade/grade-run'
import { baseUrlSchema, prices, pricesSchema } from '@episodic/models/model-options'
import { writePage } from '@episodic/pages/file/write-report'
import { findRuns } from '@episodic/pages/server/folder/find-runs'
import type { World } from '@episodic/play/worlds/world'
import { graderKeyOf } from '@episodic/report/grades/grade-fold'
import { type GradeSummary, summarizeGrades } from '@episodic/report/grades/grade-summary'
import type { GraderScale } from '@episodic/report/grades/grader'
import { cleanText } from '@episodic/report/text/format'
import { type Console, colorsOf, say, shownPath } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { type Interruption, untilInterrupted } from '@episodic/run/base/interruption'
import { wholeNumber } from '@episodic/run/base/option-values'
import { flag, option } from '@episodic/run/base/options'
import { showLine } from '@episodic/run/base/progress-line'
import { readGrades } from '@episodic/run/folder/grades-file'
import { findSealed, type SealedEpisodes } from '@episodic/run/folder/read-recorded'
import { foldRun, tornNotice } from '@episodic/run/folder/record/report-run'
import { holdsRun, RUN_FILES, writeRunFile } from '@episodic/run/folder/record/run-folder'
import { isRunning } from '@episodic/run/folder/record/run-lock'
import { seatOf } from '@episodic/run/folder/seat-of'
import { findPlayedMembers } from '@episodic/run/folder/set/set-folder'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { loadRecordedWorld } from '../../evaluate/replay/recorded-world.ts'
import { defineCommand } from '../define-command.ts'

const MOST_NAMED = 5

const gradeOptions = z.object({
  grader: option('<name|file>', 'a grader, see below; can be repeated', z.array(z.string()).optional()),
  sample: option('<count>', 'only this many episodes, drawn at random', wholeNumber(1).optional()),
  votes: option('<count>', 'how often a judge is asked about each episode', wholeNumber(1, 99).optional()),
  budget: option('<tokens>', 'stop when judges have used this many tokens', wholeNumber(1).optional()),
  rubric: option('<file>', 'with judge:<model>: what to judge, and by what'),
  scale: option(
    '<scale>',
    'with judge:<model>: boolean, score, or labels as bad,fair,good',
    z.custom<GraderScale>().default('boolean'),
    { text: { read: scale } },
  ),
  baseUrl: option(
    '<url>',
    'with judge:<model>: an OpenAI-compatible server (default: OPENAI_BASE_URL)',
    baseUrlSchema.optional(),
  ),
  prices: option(
    '<input,output>',
    'with judge:<model>: prices per million tokens, to report the cost',
    pricesSchema.optional(),
    { text: prices },
  ),
  requestsPerMinute: option('<count>', 'with judge:<model>: rate limit', wholeNumber(1).optional()),
  concurrency: option('<count>', 'verdicts that are asked for at once', wholeNumber(1, 10_000).default(8)),
  again: flag('grade again what the same grader has graded'),
  seat: option('<seat>', 'of an environment of several seats: the seat to judge (default: the one in focus)'),
  world: option('<world>', 'world whose graders or states are used (default: that of the run)'),
  json: flag('print the figures of each run as a line of JSON'),
})
type GradeOptions = z.infer<typeof gradeOptions>

export const command = defineCommand('grade', gradeOptions, {
  argument: ['<runs...>', 'folders of runs, finished or not, or of sets of runs'],
  help: `
Graders:
  <name>         one that the world of the run exports as "graders"
  <file>         a module with graders, made by defineGrader or judgeGrader
  judge:<model>  a language model that judges by --rubric

Verdicts are appended to ${RUN_FILES.grades} beside the run, and their figures are
written to ${RUN_FILES.gradeSummary}; ${RUN_FILES.report} is written again, with both. Episodes are
only read: no verdict changes a reward. What the same grader has graded is kept,
so an interrupted command continues where it stopped. Without a grader the
figures are computed again.

Examples:
  episodic grade runs/support --grader polite
  episodic grade runs/june --grader polite     every run of a set
  episodic grade runs/support --grader judge:gpt-5 --rubric polite.md`,
  async run(folders: string[], options, console) {
    using interruption = untilInterrupted(console)
    await gradeAll(folders, options, interruption, console)
  },
})

async function gradeAll(
  folders: readonly string[],
  options: GradeOptions,
  interruption: Interruption,
  console: Console,
): Promise<void> {
  const budget: TokenBudget = { limit: options.budget ?? null, spent: 0 }
  const { out, err } = console
  const { signal } = interruption
  for (const folder of await findFolders(folders, err)) {
    const sealed = await findSealed(folder)
    const seat = sealed.manifest ? seatOf(sealed.manifest.configuration, options.seat) : options.seat
    await using run = await openGradableRun(sealed, seat, (line) => say(err, `${folder}: ${tornNotice(line)}`))
    const world = onceLoaded(sealed, options.world, console)
    const graders: FoundGrader[] = []
    for (const reference of options.grader ?? []) graders.push(...(await findAll(reference, options, world)))
    try {
      for (const { grader, ref } of graders) {
        if (signal.aborted) break
        const environment = grader.needs.includes('states') ? (await world()).environment : null
        const { sample, again, concurrency } = options
        await gradeWith(run, { grader, ref, environment, sample, again, concurrency, budget, signal }, console)
      }
    } finally {
      const summary = await writeSummary(sealed.folder, run, console)
      if (
        summary.graders.some(
          (figures) => figures.graded === 0 && graders.some(({ ref }) => graderKeyOf(ref) === figures.key),
        )
      )
        process.exitCode = 1
      if (options.json) out.write(`${JSON.stringify(summary)}\n`)
      else out.write(`\n${formatGrades(summary)}`)
    }
    await writePageAgain(sealed)
    if (signal.aborted) break
  }
  if (interruption.status !== null) process.exitCode = interruption.status
}

/**
 * Returns the folders of runs that were given: of a set, those of its members that were played. Rejects with
 * `run-invalid` for a folder that holds neither.
 */
async function findFolders(given: readonly string[], err: NodeJS.WriteStream): Promise<string[]> {
  const folders: string[] = []
  for (const folder of given) {
    const played = await findPlayedMembers(folder, (notice) => say(err, notice))
    folders.push(...(played ?? [folder]))
  }
  for (const folder of folders) await assertRun(folder)
  return [...new Map(folders.map((folder) => [resolve(folder), folder])).values()]
}

/** Rejects with `run-invalid`, naming some of the runs within it, for a folder that is not that of a run. */
async function assertRun(folder: string): Promise<void> {
  if (!existsSync(folder) || !statSync(folder).isDirectory() || holdsRun(folder)) return
  const { runs } = await findRuns(folder)
  const within = runs.slice(0, MOST_NAMED).map((run) => `  ${shownPath(run.folder)}`)
  throw new HarnessError('run-invalid', [
    `${folder} holds neither a run nor a set of runs.${runs.length > 0 ? ' Give the folders of runs, as of those in it:' : ''}`,
    ...within,
    ...(runs.length > MOST_NAMED ? [`  and ${runs.length - MOST_NAMED} more`] : []),
  ])
}

/**
 * Writes the page of a run with its verdicts, if it has one. Of a run that is being played, the run does it at its end.
 */
async function writePageAgain({ folder, manifest }: SealedEpisodes): Promise<void> {
  if (!manifest || !existsSync(join(folder, RUN_FILES.report)) || isRunning(folder)) return
  const fold = await foldRun(folder, manifest)
  await writePage(folder, await fold.page())
}

function onceLoaded(sealed: SealedEpisodes, given: string | undefined, { err }: Console): () => Promise<World> {
  let loaded: Promise<World> | null = null
  return () => {
    loaded ??= loadRecordedWorld(sealed, given, (notice) => say(err, notice))
    return loaded
  }
}

function findAll(reference: string, options: GradeOptions, loadWorld: () => Promise<World>): Promise<FoundGrader[]> {
  const { rubric, scale, baseUrl, prices, requestsPerMinute, votes } = options
  if (rubric !== undefined && isOwnGrader(reference) && !reference.startsWith('judge:'))
    throw invalidOption('--rubric is for judge:<model>. A grader in a file has its own.')
  const settings = {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(prices && { prices }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
  }
  return findGraders(reference, { loadWorld, votes, judge: { rubric, scale, settings } })
}

async function gradeWith(
  run: GradableRun,
  settings: Omit<GradeRunOptions, 'onProgress'>,
  console: Console,
): Promise<void> {
  const { name } = settings.grader
  let progress: GradeProgress = { given: 0, wanted: 0, failed: 0 }
  const line = showLine(console.err, (room) => formatProgress(name, progress).slice(0, room ?? undefined))
  const onProgress = (state: GradeProgress) => {
    progress = state
    line.update()
  }
  const graded = await gradeRun(run, { ...settings, onProgress }).finally(line.stop)
  reportWork(name, graded, run, settings.budget, console)
}

function formatProgress(grader: string, { given, wanted, failed }: GradeProgress): string {
  return `${grader}  ${given}/${wanted} verdicts${failed > 0 ? `, ${failed} failed` : ''}`
}

function reportWork(
  name: string,
  { kept, failed, problem, stopped, given, wanted }: GradedRun,
  run: GradableRun,
  { limit }: TokenBudget,
  { err }: Console,
): void {
  const { yellow } = colorsOf(err)
  const warn = (sentence: string) => void err.write(`${yellow(cleanText(sentence))}\n`)
  if (kept > 0) say(err, `${name}: ${kept} verdicts were there already. --again grades them again.`)
  if (stopped === 'budget')
    warn(
      `${name}: stopped after ${given} of ${wanted} verdicts, because judges have used the ${limit} tokens of --budget.`,
    )
  if (stopped === 'interrupted')
    say(err, `${name}: ${given} of ${wanted} verdicts are in ${shownPath(run.gradesFile)}. The same command continues.`)
  if (failed === 0) return
  warn(`${name}: ${failed} verdicts failed, and their episodes are ungraded. First: ${problem}`)
  process.exitCode = 1
}

async function writeSummary(folder: string, run: GradableRun, { err }: Console): Promise<GradeSummary> {
  const skipped: number[] = []
  const records = await readGrades(run.gradesFile, { onSkipped: (line) => skipped.push(line) })
  if (skipped.length > 0)
    err.write(`${shownPath(run.gradesFile)}: lines that are no verdicts are skipped: ${skipped.join(', ')}\n`)
  const summary = summarizeGrades(run.name, records, run.lines)
  await writeRunFile(folder, RUN_FILES.gradeSummary, `${JSON.stringify(summary, null, 2)}\n`)
  return summary
}

function scale(text: string): GraderScale {
  if (text === 'boolean' || text === 'score') return text
  const [first = '', second = '', ...more] = text.split(',').map((label) => label.trim())
  const labels = [first, second, ...more] as const
  if (labels.some((label) => label === '') || new Set(labels).size !== labels.length)
    throw new InvalidArgumentError('Give boolean, score, or two or more different labels, for example bad,fair,good.')
  return labels
}
