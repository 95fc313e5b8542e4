import { formatCount, formatInterval, formatNumber, formatPercent, plural } from '@episodic/report'
import { element, escapeHtml } from '../../base/svg.ts'
import { renderHtmlPage } from '../../run-folder/page/html-page.ts'
import { PAGE_STYLE } from '../../run-folder/page/page-style.ts'
import { card, section } from '../../run-folder/page/sections.ts'
import { cell, figuresTable } from '../../run-folder/page/tables.ts'
import { formatAnchor, formatCircle, formatRating, shareWon } from './format-tournament.ts'
import type { Tournament } from './tournament.ts'

/** Renders a tournament as a self-contained HTML page without a script. The same tournament gives the same bytes. */
export function renderTournament(tournament: Tournament, name: string): string {
  const { environment, counts, players, anchor, bySeat, cycles } = tournament
  const body = element(
    'main',
    {},
    element(
      'header',
      {},
      element('p', { class: 'kicker' }, 'Episodic tournament'),
      element('h1', {}, escapeHtml(name)),
      element(
        'p',
        { class: 'meta' },
        escapeHtml(
          `${environment} · ${plural(players.length, 'player')} · ${plural(counts.tasks, 'task')}, each played by every seating · ${formatCount(counts.finished)} matches finished, ${formatCount(counts.failed)} failed, ${formatCount(counts.unresolved)} left`,
        ),
      ),
    ),
    ...cycles.map((cycle) => element('p', { class: 'alarm', role: 'alert' }, escapeHtml(formatCircle(cycle)))),
    section(
      'Players',
      card('Ratings', formatAnchor(anchor), plotRatings(players), 'No match finished.', 'wide'),
      card(
        'Figures of each player',
        'A failed match is no loss: it counts for nobody.',
        playersTable(players),
        '',
        'wide',
      ),
    ),
    section(
      'Pairs',
      card(
        'Mean return of the row against the column',
        'Below it the share of matches that the row won, a draw as half. Over all seats.',
        pairsTable(tournament),
        '',
        'wide',
      ),
      card('Seats', 'Over all players: an advantage of the first to move shows here.', seatsTable(bySeat), ''),
    ),
    tournament.failures.length === 0
      ? ''
      : section(
          'Failures',
          card('By code and player', 'Each with one message.', failuresTable(tournament), '', 'wide'),
        ),
    section('Methods', element('div', { class: 'card wide notes' }, ...METHODS.map((note) => element('p', {}, note)))),
  )
  return renderHtmlPage({ title: `${name} · Episodic tournament`, style: PAGE_STYLE, body })
}

const METHODS = [
  'Every group of players plays every task in every order of seats, with the same seeds. Who earned more in a match has won it.',
  'Ratings are those of Bradley and Terry (1952) by maximum likelihood, with the iteration of Hunter (2004), a draw as half a win, and one drawn match added to each pair. They do not depend on the order of the matches. Their 95 % intervals are quantiles over 1,000 bootstrap samples of the tasks.',
  'Intervals of returns are 95 % by Student’s t, with the matches of one task as one cluster.',
]

const WIDTH = 1_000
const ROW = 26
const LEFT = 150

/** A whisker for each player; `null` if there is none. */
function plotRatings(players: Tournament['players']): string | null {
  const ends = players.flatMap(({ rating, low, high }) => [rating, low ?? rating, high ?? rating])
  const [least, most] = [Math.min(...ends), Math.max(...ends)]
  if (players.length === 0) return null
  const x = (rating: number) => LEFT + ((rating - least) / Math.max(most - least, 1)) * (WIDTH - LEFT - 70)
  const rows = players.map(({ name, rating, low, high }, i) => {
    const y = ROW * (i + 0.5)
    return [
      element('text', { x: LEFT - 12, y: y + 4, 'text-anchor': 'end' }, escapeHtml(name.slice(0, 20))),
      element(
        'g',
        { class: 'unshaped' },
        element('line', { class: 'whisker', x1: x(low ?? rating), x2: x(high ?? rating), y1: y, y2: y }),
        element('circle', { cx: x(rating), cy: y, r: 4.5 }),
      ),
      element('text', { x: x(high ?? rating) + 10, y: y + 4 }, formatRating(rating)),
    ].join('')
  })
  return element(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${ROW * players.length}`, role: 'img', 'aria-label': 'Rating of each player' },
    ...rows,
  )
}

function playersTable(players: Tournament['players']): string {
  const head = ['Player', 'Policy', 'Rating', '95 %', 'Return', '95 %', 'Wins', 'Draws', 'Losses', 'Failed by it']
  const rows = players.map(({ name, policy, rating, low, high, return: earned, wins, draws, losses, faults }) => [
    element('td', {}, escapeHtml(name)),
    element('td', {}, escapeHtml(policy)),
    cell(formatRating(rating)),
    cell(low === null ? '' : `${formatRating(low)} to ${formatRating(high)}`),
    cell(formatNumber(earned?.mean ?? null)),
    cell(earned ? formatInterval(earned) : ''),
    ...[wins, draws, losses, faults].map((count) => cell(formatCount(count))),
  ])
  return figuresTable(head, rows, 2)
}

function pairsTable({ players, pairs }: Tournament): string {
  const names = players.map(({ name }) => name)
  const rows = names.map((player) => [
    element('td', {}, escapeHtml(player)),
    ...names.map((opponent) => {
      const pair = pairs.find((one) => one.player === player && one.opponent === opponent)
      if (!pair) return cell('·')
      const { mean } = pair.return
      const sign = mean > 0 ? 'positive' : mean < 0 ? 'negative' : ''
      return element(
        'td',
        { class: `number ${sign}`, title: `95 % ${formatInterval(pair.return)}` },
        `${formatNumber(mean)}<br>${formatPercent(shareWon(pair))}`,
      )
    }),
  ])
  return figuresTable(['', ...names], rows, 1)
}

function seatsTable(bySeat: Tournament['bySeat']): string {
  const rows = bySeat.map(({ seat, return: earned, ...tally }) => [
    element('td', {}, escapeHtml(seat)),
    cell(formatNumber(earned?.mean ?? null)),
    cell(earned ? formatInterval(earned) : ''),
    cell(formatPercent(shareWon(tally))),
  ])
  return figuresTable(['Seat', 'Return', '95 %', 'Won'], rows, 1)
}

function failuresTable({ failures }: Tournament): string {
  const rows = failures.map(({ code, player, count, message }) => [
    element('td', {}, escapeHtml(code)),
    element('td', {}, escapeHtml(player ?? '')),
    element('td', { class: 'text' }, escapeHtml(message.slice(0, 500))),
    cell(formatCount(count)),
  ])
  return figuresTable(['Code', 'Player', 'Message', 'Matches'], rows, 3)
}
