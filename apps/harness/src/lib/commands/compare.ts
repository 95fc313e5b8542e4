import { basename, dirname, join, resolve } from 'node:path'
import { contrastRows } from '@episodic/report'
import { Command } from 'commander'
import { renderComparedRuns } from '../compare/compare-page.ts'
import { type ComparedRun, compareRuns } from '../compare/compare-runs.ts'
import { contrastRuns } from '../compare/contrast-runs.ts'
import { formatComparison } from '../compare/format-comparison.ts'
import { formatContrasts } from '../compare/format-contrasts.ts'
import { readComparedRun } from '../compare/read-compared-run.ts'
import { type Console, colorsOf, shownPath, usesColor } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { tornNotice } from '../run/record/report-run.ts'
import { holdsRun, writeRunFile } from '../run/record/run-folder.ts'
import { membersOf } from '../sets/set-folder.ts'

interface CompareOptions {
  readonly json?: true
  readonly html?: string
  readonly failIfWorse?: true
  readonly baseline?: string
  readonly seat?: string
  readonly allowConflicts?: true
}

export function compareCommand(console: Console): Command {
  return new Command('compare')
    .description('compare two or more runs of the same tasks')
    .argument('<runs...>', 'folders of the runs, the baseline first; or the folder of a set')
    .option('--baseline <run>', 'folder of the baseline, one of the runs (default: the first)')
    .option('--json', 'print the comparison as JSON')
    .option('--html <file>', 'also write an HTML page, with both plays of each flipped episode')
    .option('--seat <seat>', 'of an environment of several seats: the seat to compare (default: the one in focus)')
    .option('--allow-conflicts', 'accept conflicting lines of the same episode')
    .option('--fail-if-worse', 'exit with 1 if a run is significantly worse than the baseline')
    .addHelpText(
      'after',
      `
The runs must have the same environment, version, weights and tasks; usually
only the policy differs. No run needs to be finished. Of two runs, the episodes
whose success flipped are listed; more are each compared with the baseline, with
p-values adjusted by Holm's procedure. Of a set, the players of each world are
compared with the set's baseline.

Examples:
  episodic run number-guessing --rollouts 4 --policy careless --out runs/careless
  episodic run number-guessing --rollouts 4 --policy solver --out runs/solver
  episodic compare runs/careless runs/solver
  episodic compare runs/careless runs/solver --html compare.html
  episodic compare runs/solver runs/qwen3 runs/llama runs/gemma --html models.html
  episodic compare runs/june
  episodic compare runs/june/warehouse --html models.html
  episodic compare runs/main runs/branch --json --fail-if-worse`,
    )
    .action(async (runs: string[], options: CompareOptions) => {
      for (const { title, folders } of await groupsOf(runs, options, console)) {
        if (title !== null) console.out.write(`\n${colorsOf(console.out).bold(title)}\n`)
        const [first = '', second = '', ...more] = withBaselineFirst(folders, options.baseline)
        await (more.length > 0
          ? contrast([first, second, ...more], options, console)
          : compare(first, second, options, console))
      }
    })
}

/** Runs that are compared with each other, under a title if there are several such groups. */
interface Group {
  readonly title: string | null
  readonly folders: readonly string[]
}

/** Returns the given runs, or those of a set by world. Throws `option-invalid` if there are fewer than two. */
async function groupsOf(runs: readonly string[], { json, html }: CompareOptions, { err }: Console): Promise<Group[]> {
  const [only] = runs
  const worlds = runs.length === 1 && only !== undefined ? await membersOf(only) : null
  if (!worlds) {
    if (runs.length > 1) return [{ title: null, folders: runs }]
    throw new HarnessError('option-invalid', `${only} is no set of runs. Give the folders of two or more runs.`)
  }
  if (worlds.length > 1 && (json || html !== undefined))
    throw new HarnessError(
      'option-invalid',
      `${only} has several worlds, and ${json ? '--json' : '--html'} shows one. Give the folder of a world, such as ${shownPath(dirname(worlds[0]?.runs[0] ?? ''))}.`,
    )
  return worlds.map(({ world, runs }) => {
    const [begun, others] = [runs.filter(holdsRun), runs.filter((run) => !holdsRun(run))]
    if (others.length > 0) err.write(`Not played yet: ${others.map(shownPath).join(', ')}\n`)
    if (begun.length < 2)
      throw new HarnessError('option-invalid', `${only} has fewer than two runs of ${world} to compare.`)
    return { title: worlds.length > 1 ? world : null, folders: begun.map(shownPath) }
  })
}

/** Moves the baseline to the front. Throws `option-invalid` if it is none of the runs. */
function withBaselineFirst(folders: readonly string[], baseline = folders[0]): string[] {
  const chosen = folders.findIndex((folder) => baseline !== undefined && resolve(folder) === resolve(baseline))
  if (chosen >= 0) return [folders[chosen] as string, ...folders.toSpliced(chosen, 1)]
  throw new HarnessError('option-invalid', `--baseline ${baseline} is none of the runs: ${folders.join(', ')}.`)
}

function readFrom(folder: string, options: CompareOptions, console: Console): Promise<ComparedRun> {
  return readComparedRun(folder, {
    onTorn: (line) => console.err.write(`${folder}: ${tornNotice(line)}`),
    allowConflicts: options.allowConflicts === true,
    seat: options.seat,
  })
}

/** Compares several runs with the first one. */
async function contrast(folders: readonly string[], options: CompareOptions, console: Console): Promise<void> {
  const runs: ComparedRun[] = []
  for (const folder of folders) runs.push(await readFrom(folder, options, console))
  const contrasts = contrastRuns(runs)
  const { out } = console
  if (options.json) out.write(`${JSON.stringify(contrasts)}\n`)
  else out.write(`\n${formatContrasts(contrasts, { color: usesColor(out) })}`)
  if (options.html !== undefined) {
    const page = await writePage(options.html, folders, runs)
    if (!options.json) out.write(`\n  page  ${colorsOf(out).bold(shownPath(page))}\n`)
  }
  const isWorse = contrasts.contrasts.some((one) => contrastRows(one).some(({ better }) => better === false))
  if (options.failIfWorse && isWorse) process.exitCode = 1
}

async function compare(folderA: string, folderB: string, options: CompareOptions, console: Console): Promise<void> {
  const [a, b] = [await readFrom(folderA, options, console), await readFrom(folderB, options, console)]
  const comparison = compareRuns(a, b)
  const { gained, lost } = comparison.episodes
  const page = options.html === undefined ? null : await writePage(options.html, [folderA, folderB], [a, b])
  if (options.json) console.out.write(`${JSON.stringify(comparison)}\n`)
  else {
    const { bold, dim } = colorsOf(console.out)
    const hint = page
      ? `  page  ${bold(shownPath(page))}\n`
      : gained.count + lost.count > 0
        ? `  ${dim('to see both plays of each:')} episodic compare ${folderA} ${folderB} --html ${shownPath(join(folderB, 'compare.html'))}\n`
        : ''
    console.out.write(`\n${formatComparison(comparison, { color: usesColor(console.out) })}\n${hint}`)
  }
  const worse = comparison.success?.effect === 'lower' || comparison.return?.effect === 'lower'
  if (options.failIfWorse && worse) process.exitCode = 1
}

/** Writes the page of compared runs. Resolves with its path. */
async function writePage(html: string, folders: readonly string[], runs: readonly ComparedRun[]): Promise<string> {
  const file = resolve(html)
  return writeRunFile(dirname(file), basename(file), await renderComparedRuns(folders, runs))
}
