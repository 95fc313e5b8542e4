import { basename, extname, join, resolve } from 'node:path'
import { compareRuns } from '@episodic/analysis/compare/compare-runs'
import { compareWithBaseline, type UnreadRun } from '@episodic/analysis/compare/compare-with-baseline'
import { type Group, readGroups } from '@episodic/analysis/compare/compared-groups'
import type { ComparedRun } from '@episodic/analysis/compare/compared-run'
import { contrastRuns } from '@episodic/analysis/compare/contrast-runs'
import { formatComparison } from '@episodic/analysis/compare/format-comparison'
import { formatContrasts } from '@episodic/analysis/compare/format-contrasts'
import { readComparedRun, readOrWhy } from '@episodic/analysis/compare/read-compared-run'
import { type LeftOut, leaveOut, readQuarantine, withoutOption } from '@episodic/analysis/quarantine/quarantine-file'
import { noteAnchors } from '@episodic/report/anchors/anchors'
import type { Comparison } from '@episodic/report/compare/comparison'
import type { Contrasts } from '@episodic/report/compare/contrasts'
import { bySuccess } from '@episodic/report/notes/contrast-notes'
import { contrastsToCsv, contrastsToLatex } from '@episodic/report/notes/contrast-tables'
import { contrastsToSvg } from '@episodic/report/notes/plots/contrast-plot'
import { cleanText } from '@episodic/report/text/format'
import { type Console, colorsOf, say, shownPath, usesColor } from '@episodic/run/base/console'
import { HarnessError } from '@episodic/run/base/harness-error'
import { flag, option } from '@episodic/run/base/options'
import { writeWhole } from '@episodic/run/base/own-files'
import { anchorsCommand, readAnchors } from '@episodic/run/folder/anchors/anchors-file'
import { tornNotice } from '@episodic/run/folder/record/report-run'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

const TABLES = { '.csv': contrastsToCsv, '.tex': contrastsToLatex, '.svg': contrastsToSvg }
const tableFiles = z.array(z.string().regex(/\.(csv|tex|svg)$/, 'End its name in .csv, .tex or .svg.')).default([])

const compareOptions = z.object({
  baseline: option('<run>', 'folder of the baseline, or of a set the name of its player (default: the first)'),
  json: flag('print the comparison as JSON'),
  table: option(
    '<file>',
    'also write the runs as .csv with intervals, as .tex, or as a plot in .svg; can be repeated',
    tableFiles,
  ),
  seat: option('<seat>', 'of an environment of several seats: the seat to compare (default: the one in focus)'),
  without: withoutOption,
  allowConflicts: flag('accept conflicting lines of the same episode'),
})
type CompareOptions = Omit<z.infer<typeof compareOptions>, 'without'> & { readonly without: LeftOut | undefined }

export const command = defineCommand('compare', compareOptions, {
  argument: ['<runs...>', 'folders of the runs, the baseline first; or the folder of a set'],
  help: `
The runs must have the same environment, version, weights and tasks; usually
only the policy differs. No run needs to be finished. Of two runs, the episodes
whose success flipped are listed; more are each compared with the baseline, with
p-values adjusted by Holm's procedure; those that cannot be compared are named
and left out. Of a set, the players of each world are compared with the set's
baseline.

Examples:
  episodic run number-guessing --rollouts 4 --policy careless --out runs/careless
  episodic run number-guessing --rollouts 4 --policy solver --out runs/solver
  episodic compare runs/careless runs/solver
  episodic compare runs/solver runs/qwen3 runs/llama runs/gemma
  episodic compare runs/june
  episodic compare runs/june --baseline llm:qwen3
  episodic compare runs/june --table june.csv --table june.tex --table june.svg
  episodic compare runs/main runs/branch --json

A page of them, with both plays of each flipped episode: episodic bundle
--compare. Whether a run is good enough: episodic gate.`,
  async run(folders: string[], given, console) {
    const options = { ...given, without: readQuarantine(given.without) }
    const groups = await readGroups(folders, options)
    const results: CompareResult[] = []
    for (const group of groups) results.push(await compareGroup(group, options, console, groups.length > 1))
    await writeTables(results, options, console)
    if (options.json) console.out.write(`${JSON.stringify(jsonOf(folders[0] ?? '', results, options))}\n`)
    if (results.every(({ compared }) => compared === null)) process.exitCode = 1
  },
})

interface CompareResult {
  readonly title: string | null
  readonly compared: Comparison | Contrasts | null
  readonly problem: string | null
  readonly anchors: Awaited<ReturnType<typeof readAnchors>>
  readonly runs: readonly (ComparedRun | UnreadRun)[]
}

/** Compares the runs of a group. Where others follow, it says that nothing can be compared instead of throwing it. */
async function compareGroup(
  group: Group,
  options: CompareOptions,
  console: Console,
  others: boolean,
): Promise<CompareResult> {
  const { title, folders, isSet } = group
  const runs: (ComparedRun | UnreadRun)[] = []
  const [baseline = ''] = folders
  // They are of all tasks.
  const anchors = options.without ? null : await readAnchors(baseline)
  const read = { title, problem: null, anchors, runs }
  try {
    for (const folder of folders)
      runs.push(
        leaveOut(
          await (isSet ? readOrWhy : readComparedRun)(folder, {
            onTorn: (line) => say(console.err, `${folder}: ${tornNotice(line)}`),
            allowConflicts: options.allowConflicts === true,
            seat: options.seat,
          }),
          options.without,
        ),
      )
    const [a, b, ...more] = runs
    const isPair = a && b && more.length === 0 && 'tasks' in a && 'tasks' in b
    const compared = isPair ? compareRuns(a, b) : contrastRuns(compareWithBaseline(runs, { chosen: group.chosen }))
    if (!options.json) {
      show(compared, group, options, console)
      console.out.write(`\n  ${cleanText(options.without?.note ?? noteAnchors(anchors, anchorsCommand(baseline)))}\n`)
    }
    return { ...read, compared }
  } catch (error) {
    if (!others || !HarnessError.is(error)) throw error
    const problem = error.message.replace(/\s+/g, ' ')
    say(console.err, `${title} is not compared. ${problem}`)
    return { ...read, compared: null, problem }
  }
}

function show(compared: Comparison | Contrasts, { title, folders }: Group, options: CompareOptions, { out }: Console) {
  const [a = '', b = ''] = folders
  const { seat, without, baseline, allowConflicts } = options
  const { bold, dim } = colorsOf(out)
  const color = usesColor(out)
  if (title !== null) out.write(`\n${bold(cleanText(title))}\n`)
  if ('contrasts' in compared) {
    out.write(`\n${formatContrasts(compared, { color })}`)
    return
  }
  const { gained, lost } = compared.episodes
  out.write(`\n${formatComparison(compared, { color })}`)
  const page = shownPath(join(b, 'compare.html'))
  if (gained.count + lost.count > 0 && !(seat || without || baseline || allowConflicts))
    out.write(`\n  ${dim('to see both plays of each:')} episodic bundle ${a} ${b} --compare --out ${page}\n`)
}

function jsonOf(set: string, results: readonly CompareResult[], { without }: CompareOptions) {
  const [only, ...more] = results
  if (only && more.length === 0) return only.compared && { ...only.compared, ...anchorsOf(only), ...without?.json }
  return {
    format: 1,
    set: basename(resolve(set)),
    worlds: results.map((one) => ({
      world: one.title,
      compared: one.compared,
      problem: one.problem,
      ...anchorsOf(one),
    })),
    ...without?.json,
  }
}

const anchorsOf = ({ anchors }: CompareResult) => anchors && { anchors }

async function writeTables(results: readonly CompareResult[], { table, json }: CompareOptions, { out }: Console) {
  const worlds = results.flatMap(({ compared, runs }) => {
    if (compared === null || table.length === 0) return []
    return bySuccess('contrasts' in compared ? compared : contrastRuns(compareWithBaseline(runs)))
  })
  for (const file of worlds.length > 0 ? table : []) {
    const written = await writeWhole(resolve(file), TABLES[extname(file) as keyof typeof TABLES](worlds))
    if (!json) out.write(`\n  table  ${colorsOf(out).bold(shownPath(written))}\n`)
  }
}
