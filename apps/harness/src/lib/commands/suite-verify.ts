import { basename, dirname, resolve } from 'node:path'
import { Command } from 'commander'
import { type Console, colorsOf, shownPath, usesColor } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { cleanText, plural } from '../report/plots/format.ts'
import { writeRunFile } from '../run/record/run-folder.ts'
import { formatLeaderboard } from '../suite/format-leaderboard.ts'
import { leaderboardOf } from '../suite/leaderboard.ts'
import { renderLeaderboard } from '../suite/render-leaderboard.ts'
import { type Finding, type VerifiedSubmission, verifySubmission } from '../suite/verify-submission.ts'

interface VerifyOptions {
  readonly suite?: string
  readonly json?: true
}

interface LeaderboardOptions extends VerifyOptions {
  readonly html?: string
}

export function verifySuiteCommand(console: Console): Command {
  return new Command('verify')
    .description('check the result of a suite: measure, replay and compute every figure again')
    .argument('<folder>', 'folder of the result, with its runs')
    .option('--suite <suite>', 'the suite (default: the one that the result names)')
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      `
Checks that the result is of the suite that is here, with all its lines, and the
same versions of its worlds; that each exact figure is measured again; that each
played figure is of the suite's tasks, and follows from its sealed episodes; and
that the rules reproduce these episodes. The exit status is 1 if there is a
finding. It does not show who chose the actions.`,
    )
    .action((folder: string, options: VerifyOptions) => verify(folder, options, console))
}

export function leaderboardCommand(console: Console): Command {
  return new Command('leaderboard')
    .description('verify several results of a suite, and rank their policies in each variant')
    .argument('<folder...>', 'folders of results that were played with --policy')
    .option('--suite <suite>', 'the suite (default: the one that each result names)')
    .option('--html <file>', 'also write an HTML page')
    .option('--json', 'print the leaderboard as JSON')
    .action((folders: string[], options: LeaderboardOptions) => rank(folders, options, console))
}

async function verify(folder: string, { suite, json }: VerifyOptions, console: Console): Promise<void> {
  const { out } = console
  const { result, findings } = await check(folder, suite, console)
  const { name, version } = result.suite
  const lines = result.worlds.flatMap((world) => world.lines)
  if (json)
    out.write(`${JSON.stringify({ suite: result.suite, policy: result.policy, lines: lines.length, findings })}\n`)
  else if (findings.length === 0)
    out.write(`${colorsOf(out).green('holds')}  ${cleanText(`${name} ${version}`)}: ${plural(lines.length, 'line')}\n`)
  else out.write(findings.map((finding) => `${describe(finding)}\n`).join(''))
  if (findings.length > 0)
    throw new HarnessError(
      'submission-invalid',
      `${shownPath(folder)} does not hold: ${plural(findings.length, 'finding')}.`,
    )
}

async function rank(folders: readonly string[], options: LeaderboardOptions, console: Console): Promise<void> {
  const { out, err } = console
  const checked: VerifiedSubmission[] = []
  for (const folder of folders) checked.push(await check(folder, options.suite, console))
  const suites = new Set(
    checked.filter(({ findings }) => findings.length === 0).map(({ result }) => result.suite.sha256),
  )
  if (suites.size > 1)
    throw new HarnessError('option-invalid', 'These are results of several suites. Make a leaderboard of each.')
  const board = leaderboardOf(checked as [VerifiedSubmission, ...VerifiedSubmission[]])
  if (options.json) out.write(`${JSON.stringify(board)}\n`)
  else out.write(formatLeaderboard(board, { color: usesColor(out) }))
  if (options.html !== undefined) {
    const file = resolve(options.html)
    await writeRunFile(dirname(file), basename(file), renderLeaderboard(board))
  }
  for (const { folder, findings } of board.rejected)
    for (const finding of findings) err.write(`${folder}: ${describe(finding)}\n`)
  if (board.rejected.length > 0)
    throw new HarnessError(
      'submission-invalid',
      `${plural(board.rejected.length, 'submission')} of ${checked.length} rejected.`,
    )
}

function check(folder: string, suite: string | undefined, { err }: Console): Promise<VerifiedSubmission> {
  return verifySubmission(folder, {
    suite,
    onLine: (world, line) => void (err.isTTY && err.write(`${folder}: ${world} ${line}\n`)),
  })
}

function describe({ world, line, what }: Finding): string {
  return cleanText([world, line, what].filter((part) => part !== null).join(' '))
}
