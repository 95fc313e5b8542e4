import { resolve } from 'node:path'
import { plural } from '@episodic/report'
import { loadViewer } from '@episodic/viewer'
import { z } from 'zod'
import { type Console, say, usesColor } from '../../base/console.ts'
import { HarnessError, invalidOption } from '../../base/harness-error.ts'
import { flag, option } from '../../base/options.ts'
import { writeWhole } from '../../base/own-files.ts'
import { formatLeaderboard } from '../../suites/suite/format-leaderboard.ts'
import { leaderboardOf } from '../../suites/suite/leaderboard.ts'
import { leaderboardPage } from '../../suites/suite/leaderboard-page.ts'
import type { VerifiedSubmission } from '../../suites/suite/verify-submission.ts'
import { defineCommand } from '../define-command.ts'
import { checkResult, formatFinding } from './suite-verify.ts'

const leaderboardOptions = z.object({
  suite: option('<suite>', 'the suite (default: the one that each result names)'),
  html: option('<file>', 'also write an HTML page'),
  json: flag('print the leaderboard as JSON'),
})
type LeaderboardOptions = z.infer<typeof leaderboardOptions>

export const leaderboardCommand = defineCommand('leaderboard', leaderboardOptions, {
  description: 'verify several results of a suite, and rank their policies in each variant',
  argument: ['<folder...>', 'folders of results that were played with --policy'],
  run: rank,
})

async function rank(folders: readonly string[], options: LeaderboardOptions, console: Console): Promise<void> {
  const { out, err } = console
  const checked: VerifiedSubmission[] = []
  for (const folder of folders) checked.push(await checkResult(folder, options.suite, console))
  const suites = new Set(
    checked.filter(({ findings }) => findings.length === 0).map(({ result }) => result.suite.sha256),
  )
  if (suites.size > 1) throw invalidOption('These are results of several suites. Make a leaderboard of each.')
  const board = leaderboardOf(checked as [VerifiedSubmission, ...VerifiedSubmission[]])
  if (options.json) out.write(`${JSON.stringify(board)}\n`)
  else out.write(formatLeaderboard(board, { color: usesColor(out) }))
  if (options.html !== undefined) {
    const file = resolve(options.html)
    await writeWhole(file, (await loadViewer()).resultPage(leaderboardPage(board)))
  }
  for (const { folder, findings } of board.rejected)
    for (const finding of findings) say(err, `${folder}: ${formatFinding(finding)}`)
  if (board.rejected.length > 0)
    throw new HarnessError(
      'submission-invalid',
      `${plural(board.rejected.length, 'submission')} of ${checked.length} rejected.`,
    )
}
