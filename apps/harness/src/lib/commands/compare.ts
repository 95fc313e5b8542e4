import { basename, dirname, join, resolve } from 'node:path'
import { Command } from 'commander'
import { type ComparedRun, compareRuns } from '../compare/compare-runs.ts'
import type { Flip } from '../compare/comparison.ts'
import type { ShownFlip } from '../compare/flip-panels.ts'
import { formatComparison } from '../compare/format-comparison.ts'
import { episodeKey, readComparedRun, readPlays } from '../compare/read-compared-run.ts'
import { renderComparison } from '../compare/render-comparison.ts'
import { type Console, colorsOf, shownPath, usesColor } from '../console.ts'
import { tornNotice } from '../run/report-run.ts'
import { writeRunFile } from '../run/run-folder.ts'

interface CompareOptions {
  readonly json?: true
  readonly html?: string
  readonly failIfWorse?: true
  readonly allowConflicts?: true
}

/** Flipped episodes of either direction that a page shows step by step: at their largest, they take 4 MiB of it. */
const MOST_SHOWN = 25

export function compareCommand(console: Console): Command {
  return new Command('compare')
    .description('tell how a run differs from another one of the same tasks, and which episodes flipped')
    .argument('<runA>', 'folder of the run to compare with')
    .argument('<runB>', 'folder of the run in question')
    .option('--json', 'print the comparison as JSON')
    .option('--html <file>', 'write it as a page too, with both plays of the episodes that flipped')
    .option('--allow-conflicts', 'choose between lines that say different things of one episode, and go on')
    .option('--fail-if-worse', 'exit with 1 where B is shown to solve less or to earn less')
    .addHelpText(
      'after',
      `
Runs of the same tasks have the same world, parameters and seed for each; what should differ is the policy. Runs of
different environments, versions, weights or tasks are refused. A run need not be finished.

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
    const told = page
      ? `  page  ${bold(shownPath(page))}\n`
      : gained.count + lost.count > 0
        ? `  ${dim('to see both plays of each:')} episodic compare ${folderA} ${folderB} --html ${shownPath(join(folderB, 'compare.html'))}\n`
        : ''
    console.out.write(`\n${formatComparison(comparison, { color: usesColor(console.out) })}\n${told}`)
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
  const [fromA, fromB] = [
    await readPlays(sides[0][0], sides[0][1].tasks, wanted),
    await readPlays(sides[1][0], sides[1][1].tasks, wanted),
  ]
  return lists.map((flips) =>
    flips.map((flip) => {
      const key = episodeKey(flip.task, flip.attempt)
      return { ...flip, plays: { a: fromA.get(key), b: fromB.get(key) } }
    }),
  )
}
