import {
  formatCount,
  formatInterval,
  formatNumber,
  formatPercent,
  plural,
  type ResultCard,
  type ResultCell,
  type ResultPage,
} from '@episodic/report'
import { formatAnchor, formatCircle, playerCells, seatCells, shareWon } from './format-tournament.ts'
import type { Tournament } from './tournament.ts'

/** What stands in the page of a tournament. */
export function tournamentPage(tournament: Tournament, name: string): ResultPage {
  const { environment, counts, players, anchor, bySeat, cycles, failures } = tournament
  const facts = [
    environment,
    plural(players.length, 'player'),
    `${plural(counts.tasks, 'task')}, each played by every seating`,
    `${formatCount(counts.finished)} matches finished, ${formatCount(counts.failed)} failed, ${formatCount(counts.unresolved)} left`,
  ]
  const seats: ResultCard = {
    title: 'Seats',
    caption: 'Over all players: an advantage of the first to move shows here.',
    table: { head: ['Seat', 'Return', '95 %', 'Won'], texts: 1, rows: bySeat.map(seatCells) },
  }
  const failed: ResultCard = {
    title: 'By code and player',
    caption: 'Each with one message.',
    table: {
      head: ['Code', 'Player', 'Message', 'Matches'],
      texts: 3,
      rows: failures.map(({ code, player, count, message }) => [
        code,
        player ?? '',
        message.slice(0, 500),
        formatCount(count),
      ]),
    },
  }
  return {
    kind: 'tournament',
    title: name,
    facts: facts.join(' · '),
    alarms: cycles.map(formatCircle),
    figures: [],
    sections: [
      { title: 'Players', cards: [playersCard(players, anchor)] },
      { title: 'Pairs', cards: [pairsCard(tournament), seats] },
      ...(failures.length > 0 ? [{ title: 'Failures', cards: [failed] }] : []),
    ],
    methods: METHODS,
  }
}

const METHODS = [
  'Every group of players plays every task in every order of seats, with the same seeds. Who earned more in a match has won it. A failed match is no loss: it counts for nobody.',
  'Ratings are those of Bradley and Terry (1952) by maximum likelihood, with the iteration of Hunter (2004), a draw as half a win, and one drawn match added to each pair. They do not depend on the order of the matches. Their 95 % intervals are quantiles over 1,000 bootstrap samples of the tasks.',
  'Intervals of returns are 95 % by Student’s t, with the matches of one task as one cluster.',
]

function playersCard(players: Tournament['players'], anchor: string | null): ResultCard {
  const ends = players.flatMap(({ rating, low, high }) => [rating, low ?? rating, high ?? rating])
  const range = { from: Math.min(...ends), to: Math.max(...ends), marks: [] }
  return {
    title: 'Rating of each player',
    caption: formatAnchor(anchor),
    table: {
      head: [
        'Player',
        'Policy',
        'Interval',
        'Rating',
        '95 %',
        'Return',
        '95 %',
        'Wins',
        'Draws',
        'Losses',
        'Failed by it',
      ],
      texts: 2,
      rows: players.map((player) => {
        const { name, policy, rating, low, high } = player
        return [name, policy, { value: rating, low, high, ...range }, ...playerCells(player)]
      }),
    },
  }
}

function pairsCard({ players, pairs }: Tournament): ResultCard {
  const names = players.map(({ name }) => name)
  return {
    title: 'Mean return of the row against the column',
    caption: 'Below it the share of matches that the row won, a draw as half. Over all seats.',
    table: {
      head: ['Player', ...names],
      texts: 1,
      rows: names.map((player) => [
        player,
        ...names.map((opponent): ResultCell => {
          const pair = pairs.find((one) => one.player === player && one.opponent === opponent)
          if (!pair) return '·'
          const { mean } = pair.return
          return {
            text: formatNumber(mean),
            below: formatPercent(shareWon(pair)),
            sense: mean > 0 ? 'positive' : mean < 0 ? 'negative' : 'neutral',
            tip: `95 % ${formatInterval(pair.return)}`,
          }
        }),
      ]),
    },
  }
}
