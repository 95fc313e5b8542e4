import { basename, dirname, join, resolve } from 'node:path'
import { Command } from 'commander'
import { type ComparedRun, compareRuns } from '../compare/compare-runs.ts'
import type { Flip } from '../compare/comparison.ts'
import type { ShownFlip } from '../compare/flip-panels.ts'
import { formatComparison } from '../compare/format-comparison.ts'
import { episodeKey, readComparedRun, readPlays } from '../compare/read-compared-run.ts'
import { renderComparison } from '../compare/render-comparison.ts'
import { type Console, colorsOf, shownPath, usesColor } from '../console.ts'
import { tornNotice } from '../run/record/report-run.ts'
import { writeRunFile } from '../run/record/run-folder.ts'

interface CompareOptions {
  readonly json?: true
  readonly html?: string
  readonly failIfWorse?: true
  readonly seat?: string
  readonly allowConflicts?: true
}

/** Flipped episodes of either direction that a page shows step by step. At their largest they take 4 MiB. */
const MOST_SHOWN = 25

export function compareCommand(console: Console): Command {
  return new Command('compare')
    .description('compare two runs of the same tasks, and list the episodes whose success flipped')
    .argument('<runA>', 'folder of the baseline run')
    .argument('<runB>', 'folder of the run to compare with it')
    .option('--json', 'print the comparison as JSON')
    .option('--html <file>', 'also write an HTML page, with both plays of each flipped episode')
    .option('--seat <seat>', 'of an environment of several seats: the seat to compare (default: the one in focus)')
    .option('--allow-conflicts', 'accept conflicting lines of the same episode')
    .option('--fail-if-worse', 'exit with 1 if run B is significantly worse than run A')
    .addHelpText(
      'after',
      `
Both runs must have the same environment, version, weights and tasks; usually
only the policy differs. Neither run needs to be finished.

Examples:
  episodic run number-guessing --rollouts 4 --policy careless --out runs/careless
  episodic run number-guessing --rollouts 4 --policy solver --out runs/solver
  episodic compare runs/careless runs/solver
  episodic compare runs/careless runs/solver --html compare.html
  episodic compare runs/main runs/branch --json --fail-if-worse`,
    )
    .action((a: string, b: string, options: CompareOptions) => compare(a, b, options, console))
}

async function compare(folderA: string, folderB: string, options: CompareOptions, console: Console): Promise<void> {
  const read = (folder: string) =>
    readComparedRun(folder, {
      onTorn: (line) => console.err.write(`${folder}: ${tornNotice(line)}`),
      allowConflicts: options.allowConflicts === true,
      seat: options.seat,
    })
  const [a, b] = [await read(folderA), await read(folderB)]
  const comparison = compareRuns(a, b)
  const { gained, lost } = comparison.episodes
  let page: string | null = null
  if (options.html !== undefined) {
    const shown = [gained, lost].map(({ flips }) => flips.slice(0, MOST_SHOWN))
    const [shownGained = [], shownLost = []] = await withPlays(shown, [folderA, a], [folderB, b])
    const html = renderComparison(comparison, { gained: shownGained, lost: shownLost })
    const file = resolve(options.html)
    page = await writeRunFile(dirname(file), basename(file), html)
  }
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

/** Reads the plays of flipped episodes from both runs, each in one pass over its file. */
async function withPlays(
  lists: readonly (readonly Flip[])[],
  ...sides: readonly [a: readonly [string, ComparedRun], b: readonly [string, ComparedRun]]
): Promise<ShownFlip[][]> {
  const wanted = new Set(lists.flat().map(({ task, attempt }) => episodeKey(task, attempt)))
  const [fromA, fromB] = [await readPlays(...sides[0], wanted), await readPlays(...sides[1], wanted)]
  return lists.map((flips) =>
    flips.map((flip) => {
      const key = episodeKey(flip.task, flip.attempt)
      return { ...flip, plays: { a: fromA.get(key), b: fromB.get(key) } }
    }),
  )
}
