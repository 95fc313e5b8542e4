import { cleanText, NOTHING, plural } from '@episodic/report'
import { createColors } from 'picocolors'
import { formatTable } from '../../base/align-columns.ts'
import { formatEstimate, formatExact } from './format-figure.ts'
import type { Leaderboard, LeaderboardEntry, LeaderboardTable } from './leaderboard.ts'

/** The texts of an entry: policy, return, score, failures and folder. */
export function entryCells({ policy, here, score, failed, folder }: LeaderboardEntry): string[] {
  return [
    policy,
    here ? formatEstimate(here) : NOTHING,
    score ? formatEstimate(score) : NOTHING,
    failed > 0 ? `${failed} failed` : '',
    folder,
  ]
}

/** What the tables of a leaderboard show of the scale of a variant. */
export function formatAnchors({ anchors: { random, optimum } }: LeaderboardTable): string {
  return [
    ...(random === null ? [] : [`random ${formatExact(random)}`]),
    ...(optimum === null ? [] : [`best ${formatExact(optimum)}`]),
  ].join(', ')
}

/**
 * Formats a leaderboard for a terminal, with a line break at the end.
 *
 * @param color - whether to use escape sequences.
 */
export function formatLeaderboard(board: Leaderboard, { color }: { readonly color: boolean }): string {
  const { bold, dim, red } = createColors(color)
  const { suite, tables, rejected } = board
  const lines = [
    '',
    bold(`${cleanText(suite.name)} ${cleanText(suite.version)}`),
    ...tables.flatMap((table) => [
      '',
      `  ${bold(cleanText([table.world, table.variant].filter(Boolean).join(' ')))}  ${dim(formatAnchors(table))}`.trimEnd(),
      ...aligned([['policy', 'return', 'score', '', ''], ...table.entries.map(entryCells)]).map((row, i) =>
        i === 0 ? dim(row) : row,
      ),
    ]),
    ...(tables.length === 0 ? ['', '  No submission has scores.'] : []),
    ...(rejected.length > 0 ? ['', `  ${red(plural(rejected.length, 'rejected submission'))}`] : []),
    ...rejected.map(({ folder, findings }) => `    ${cleanText(folder)}: ${plural(findings.length, 'finding')}`),
  ]
  return `${lines.join('\n')}\n`
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  return formatTable(rows.map((row) => row.map(cleanText)))
    .split('\n')
    .map((line) => `    ${line}`.trimEnd())
}
