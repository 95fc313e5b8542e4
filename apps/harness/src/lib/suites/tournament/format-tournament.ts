import { cleanText, formatCount, formatInterval, formatNumber, formatPercent } from '@episodic/report'
import { createColors } from 'picocolors'
import { alignColumns } from '../../base/align-columns.ts'
import { formatCounts } from '../../base/format-counts.ts'
import type { Tally, Tournament } from './tournament.ts'

/** Formats a tournament for a terminal, with a line break at the end. */
export function formatTournament(tournament: Tournament, { color }: { readonly color: boolean }): string {
  const { bold, dim, red, yellow } = createColors(color)
  const { environment, counts, players, anchor, seats, bySeat, cycles } = tournament
  const names = players.map(({ name }) => name)
  const table = (head: readonly string[], rows: readonly (readonly string[])[]) => {
    const [first = '', ...lines] = alignColumns(head, rows, 1)
    return [dim(first.trimEnd()), ...lines.map((line) => line.trimEnd())]
  }
  return `${[
    `${bold(cleanText(environment))}  ${dim(`${formatCount(counts.tasks)} tasks, each played by every seating`)}`,
    '',
    `  ${formatCounts(counts, color)}`,
    '',
    ...table(
      ['', 'rating', '95 %', 'return', '95 %', 'wins', 'draws', 'losses', 'failed'],
      players.map((player) => [player.name, ...playerCells(player)]),
    ),
    '',
    `  ${dim(formatAnchor(anchor))}`,
    '',
    `  ${dim('mean return of the row against the column, and the share of matches that it won')}`,
    ...table(
      ['', ...names],
      names.map((player) => [player, ...cellsOf(player)]),
    ),
    '',
    ...table(['', 'return', '95 %', 'won'], bySeat.map(seatCells)),
    ...tournament.failures.map(
      ({ player, code, count, message }) =>
        `\n  ${red(code)}  ${formatCount(count)}${player === null ? '' : ` by ${cleanText(player)}`}  ${dim(cleanText(message.split('\n', 1)[0] ?? ''))}`,
    ),
    ...cycles.map((cycle) => `\n  ${yellow(formatCircle(cycle))}`),
    ...(seats.length > 2 ? [`\n  ${dim('A match of more than two seats counts for every two of them.')}`] : []),
  ].join('\n')}\n`

  function cellsOf(player: string): string[] {
    return names.map((opponent) => {
      const pair = tournament.pairs.find((one) => one.player === player && one.opponent === opponent)
      return pair ? `${formatNumber(pair.return.mean)} ${formatPercent(shareWon(pair))}` : '·'
    })
  }
}

/** The figures of a player: rating, return, and matches won, drawn, lost and failed. */
export function playerCells(player: Tournament['players'][number]): string[] {
  const { rating, low, high, return: earned, wins, draws, losses, faults } = player
  return [
    formatRating(rating),
    low === null ? '' : `${formatRating(low)} to ${formatRating(high)}`,
    formatNumber(earned?.mean ?? null),
    earned ? formatInterval(earned) : '',
    ...[wins, draws, losses, faults].map(formatCount),
  ]
}

/** A seat, and what the players earned in it. */
export function seatCells({ seat, return: earned, ...tally }: Tournament['bySeat'][number]): string[] {
  return [
    seat,
    formatNumber(earned?.mean ?? null),
    earned ? formatInterval(earned) : '',
    formatPercent(shareWon(tally)),
  ]
}

/** The share of matches won, a draw as half. */
export function shareWon({ wins, draws, losses }: Tally): number | null {
  const matches = wins + draws + losses
  return matches > 0 ? (wins + draws / 2) / matches : null
}

function formatRating(rating: number | null): string {
  return rating === null ? '' : String(Math.round(rating))
}

export function formatAnchor(anchor: string | null): string {
  const zero = anchor === null ? 'the mean of all players is 1,000' : `${cleanText(anchor)} is 1,000`
  return `Ratings of Bradley and Terry: ${zero}, and 400 more mean tenfold odds of a win.`
}

export function formatCircle(cycle: readonly string[]): string {
  const [first = '', ...others] = cycle.map(cleanText)
  return `${[first, ...others, first].join(' beats ')}: no rating can show that.`
}
