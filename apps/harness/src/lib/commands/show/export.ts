import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CREDIT_HELP, creditFor, creditOption, formatCredit } from '@episodic/export/credit/credit-options'
import { gradeReward, isGradeReward, readVerdicts } from '@episodic/export/episode/grade-reward'
import { EXPORT_REWARDS, type ExportReward, type ExportRewardName } from '@episodic/export/episode/rewards'
import type { ExportFormat } from '@episodic/export/export-format'
import { type Exported, exportRun } from '@episodic/export/export-run'
import { EXPORT_FORMATS, type ExportFormatName } from '@episodic/export/formats/formats'
import { shareEpisodes } from '@episodic/export/share-episode'
import type { ToolInfo } from '@episodic/protocol'
import { formatHeldOut } from '@episodic/report/held-out/held-out'
import { formatCount, plural } from '@episodic/report/text/format'
import { type Console, say, shownPath, unfiltered } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { countOrFile, countOrFileSchema, nonEmpty, splitSchema } from '@episodic/run/base/option-values'
import { flag, option, toWords } from '@episodic/run/base/options'
import { gradesFileOf, readGrades } from '@episodic/run/folder/grades-file'
import { matchingLines, readQuery } from '@episodic/run/folder/matching-lines'
import { findSealed, type SealedEpisodes } from '@episodic/run/folder/read-recorded'
import { tornNotice } from '@episodic/run/folder/record/report-run'
import { seatOf } from '@episodic/run/folder/seat-of'
import { findPlayedMembers } from '@episodic/run/folder/set/set-folder'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { loadRecordedWorld } from '../../evaluate/replay/recorded-world.ts'
import { defineCommand } from '../define-command.ts'

const HARBOR = 'harbor'
const FORMATS = listOf({ ...EXPORT_FORMATS, [HARBOR]: { description: 'Harbor: a folder of tasks, with solutions' } })
const REWARDS = listOf(EXPORT_REWARDS)

const REWARDED = Object.entries<ExportFormat>(EXPORT_FORMATS)
  .filter(([, { hasReward }]) => hasReward)
  .map(([name]) => name)
  .join(', ')

const exportOptions = z.object({
  format: option(
    '<format>',
    'format of the file, see below',
    z.enum([...(Object.keys(EXPORT_FORMATS) as ExportFormatName[]), HARBOR]),
  ),
  out: option(
    '<file>',
    'file to write (default: standard output); of a set, the folder for a file of each run; for harbor, a new folder',
  ),
  tasks: option(
    '<file-or-count>',
    'for harbor: tasks from a dataset, or as many generated ones (default: 20)',
    countOrFileSchema.optional(),
    { text: countOrFile },
  ),
  split: option('<split>', 'only episodes of this split', splitSchema.optional()),
  heldOut: flag('also episodes of tasks that are held out from training: for an export that trains no model'),
  seat: option(
    '<seat>',
    'of an environment of several seats: only this seat (default: each seat has an episode of its own)',
  ),
  successful: flag('only episodes that succeeded'),
  query: option('<query>', 'only episodes that match, as in the list of episodes'),
  allowSecrets: flag('export texts that look like keys'),
  reward: option(
    '<reward>',
    `what the file calls the reward, see below (default: unshaped). For ${REWARDED}`,
    z.string().optional(),
    { text: { read: rewardName } },
  ),
  advantages: creditOption,
  policyVersion: option(
    '<version>',
    'version of the weights that you train now: lines whose version is known get their staleness',
    nonEmpty.optional(),
  ),
  world: option('<world>', 'world whose tools are written; default: that of the run'),
  json: flag('print the counts as JSON; needs --out'),
})
type ExportOptions = z.infer<typeof exportOptions>
type ExportCommandOptions = Omit<ExportOptions, 'format' | 'tasks'> & {
  readonly format: ExportFormatName
}

export const command = defineCommand('export', exportOptions, {
  argument: ['<run>', 'folder of a run or of a set of runs, or a file of sealed episodes; for harbor, a world'],
  help: `
Formats:
${FORMATS}

Rewards:
${REWARDS}
  grader:<name>  its verdict, from episodic grade; without one, no reward
${CREDIT_HELP}

A query names figures of episodes and texts in them, for example
  --query 'success:no steps>10 term.cost<-0.2 grade.polite:no "some words"'
Of several tries the one that counts matches; of several seats, that of --seat,
or the one in focus, has to match.

Failed episodes are left out, or marked and without a score: they are never a
reward of 0. The ids of calls begin with the hash of the sealed episode, and
most formats have it as "episode".`,
  async run(run: string, { format: named, tasks, ...given }, console) {
    if (named === HARBOR) return exportTasks(run, { ...given, tasks }, console)
    if (tasks !== undefined) throw invalidOption(`--tasks is for --format ${HARBOR}. Leave it out.`)
    const options: ExportCommandOptions = { ...given, format: named }
    const format: ExportFormat = EXPORT_FORMATS[options.format]
    const isFolder = existsSync(run) && statSync(run).isDirectory()
    const members = isFolder ? await findPlayedMembers(run, warnOn(console)) : null
    checkOptions(format, options, members !== null)
    if (members === null) {
      const counts = await exportOne(run, options, console)
      if (options.json) console.out.write(`${JSON.stringify(counts)}\n`)
      return
    }
    const exported: object[] = []
    for (const member of members) {
      const [world, player] = [basename(dirname(member)), basename(member)]
      const out = join(options.out as string, world, `${player}${format.extension ?? '.jsonl'}`)
      exported.push({ run: member, file: out, ...(await exportOne(member, { ...options, out }, console)) })
    }
    if (options.json) console.out.write(`${JSON.stringify({ runs: exported })}\n`)
  },
})

const ofEpisodes = exportOptions.pick({
  seat: true,
  successful: true,
  query: true,
  allowSecrets: true,
  reward: true,
  advantages: true,
  policyVersion: true,
  world: true,
})

async function exportTasks(
  reference: string,
  { out, ...options }: Omit<ExportOptions, 'format'>,
  console: Console,
): Promise<void> {
  const [unfit] = toWords(ofEpisodes, options)
  if (unfit !== undefined) throw invalidOption(`${unfit} is for episodes, and ${HARBOR} has tasks. Leave it out.`)
  if (out === undefined) throw invalidOption(`${HARBOR} is a folder: give a new one as --out.`)
  const { exportHarbor } = await import('./export-harbor.ts')
  await exportHarbor(reference, { ...options, out }, console)
}

function warnOn({ err }: Console): (notice: string) => void {
  return (notice) => say(err, notice)
}

async function exportOne(run: string, options: ExportCommandOptions, console: Console): Promise<Exported> {
  const format: ExportFormat = EXPORT_FORMATS[options.format]
  const warn = warnOn(console)
  const sealed = await findSealed(run)
  const seat = sealed.manifest ? seatOf(sealed.manifest.configuration, options.seat) : options.seat
  const torn = new Set<number>()
  const counts = await exportRun(sealed, {
    ...options,
    format,
    lines: await exportLines(sealed, options.query, seat),
    advantages: creditFor(options.advantages, format),
    reward: await findReward(options.reward, sealed.folder),
    verdicts: await readVerdicts(sealed.folder),
    tools: await findTools(sealed, options.world, warn),
    share: shareEpisodes(sealed, options.allowSecrets === true),
    to: options.out ?? unfiltered(console.out),
    onTorn: (line) => void torn.add(line),
  })
  for (const line of torn) say(console.err, tornNotice(line))
  if (counts.credit) warn(formatCredit(counts.credit))
  for (const notice of listVersionNotes(counts, options.policyVersion)) warn(notice)
  if (!options.json) console.err.write(formatExport(counts, format, options))
  if (counts.finished > 0 && counts.lines === 0 && !format.isBinary) {
    warn(
      `${run} has no line in this format: none of its ${plural(counts.finished, 'finished episode')} has ${format.needs ?? 'a step'}.`,
    )
    process.exitCode = 1
  }
  return counts
}

async function exportLines(
  { file, folder }: SealedEpisodes,
  query: string | undefined,
  seat: string | undefined,
): Promise<ReadonlySet<number> | undefined> {
  if (query === undefined) return undefined
  readQuery(query)
  if (!existsSync(file)) return new Set()
  return matchingLines({ file, grades: await readGrades(gradesFileOf(folder)), seat }, query)
}

function rewardName(text: string): string {
  if (isReward(text) || isGradeReward(text)) return text
  throw new InvalidArgumentError(`Allowed choices are ${Object.keys(EXPORT_REWARDS).join(', ')}, grader:<name>.`)
}

function isReward(name: string): name is ExportRewardName {
  return Object.hasOwn(EXPORT_REWARDS, name)
}

async function findReward(name: string | undefined, folder: string): Promise<ExportReward | undefined> {
  if (name === undefined) return undefined
  return isReward(name) ? EXPORT_REWARDS[name] : gradeReward(name, folder)
}

function listOf(named: Readonly<Record<string, { readonly description: string }>>): string {
  return Object.entries(named)
    .map(([name, { description }]) => `  ${name.padEnd(15)}${description}`)
    .join('\n')
}

function checkOptions(
  { hasReward, extension, isBinary }: ExportFormat,
  { format, out, json, reward }: ExportCommandOptions,
  isSet: boolean,
): void {
  if (json && out === undefined) throw invalidOption('--json prints the counts to standard output: give --out too.')
  if (reward !== undefined && !hasReward)
    throw invalidOption(`The format ${format} has no reward to choose. Leave --reward out, or export as ${REWARDED}.`)
  if (isSet && out === undefined)
    throw invalidOption('A set is exported to a file for each of its runs: give the folder for them as --out.')
  if (!isSet && isBinary && !out?.endsWith(extension ?? ''))
    throw invalidOption(
      `The format ${format} is a binary file that its readers recognise by its name: give --out <name>${extension}.`,
    )
}

function formatExport(
  { finished, failed, lines, heldOut = 0, canaries = [] }: Exported,
  { keepsFailed, isBinary }: ExportFormat,
  { format, out }: ExportCommandOptions,
): string {
  const episodes =
    keepsFailed && failed > 0
      ? `${formatCount(finished)} finished and ${plural(failed, 'failed episode')}`
      : plural(finished, 'finished episode')
  const where = out === undefined ? '' : ` to ${shownPath(out)}`
  const file = isBinary ? [] : [plural(lines, 'line')]
  const omitted = keepsFailed || failed === 0 ? [] : [`${failed} failed ones left out`]
  const held = heldOut + canaries.length > 0 ? [`with ${formatHeldOut({ heldOut, canaries })}`] : []
  const rest = [...file, ...omitted, ...held].join(', ')
  return `${episodes} exported${where} as ${format}${rest && `: ${rest}`}.\n`
}

/** Says which episodes have no staleness, or one that a trainer does not expect. */
function* listVersionNotes({ withoutStaleness = 0, newer = 0 }: Exported, version: string | undefined) {
  if (withoutStaleness > 0)
    yield `${plural(withoutStaleness, 'episode')} without staleness: the version is not known, or it and ${version} do not differ in the number at their end alone.`
  if (newer > 0) yield `${plural(newer, 'episode')} of a newer version than ${version}: the staleness is below 0.`
}

/** The tools of a run's world. An export without them is still of use, so a world that is gone is reported. */
async function findTools(
  run: SealedEpisodes,
  given: string | undefined,
  warn: (notice: string) => void,
): Promise<readonly ToolInfo[] | null> {
  try {
    return (await loadRecordedWorld(run, given, warn)).environment.toolInfos
  } catch (error) {
    if (given !== undefined || !HarnessError.is(error)) throw error
    warn(`The tools are left out, because the world of the run cannot be loaded: ${error.message}`)
    return null
  }
}
