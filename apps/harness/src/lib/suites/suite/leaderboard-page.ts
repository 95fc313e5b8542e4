import { plural, type ResultPage } from '@episodic/report'
import { entryCells, formatAnchors } from './format-leaderboard.ts'
import type { Leaderboard } from './leaderboard.ts'

/** What stands in the page of a leaderboard. */
export function leaderboardPage({ suite, tables, rejected }: Leaderboard): ResultPage {
  const verified = tables.map((table) => ({
    title: [table.world, table.variant].filter(Boolean).join(' '),
    caption: formatAnchors(table),
    table: {
      head: ['Place', 'Policy', 'Return', 'Score', 'Failures', 'Submission'],
      texts: 6,
      rows: table.entries.map((entry, i) => [String(i + 1), ...entryCells(entry)]),
    },
  }))
  const refused = rejected.map(({ folder, findings }) => ({
    title: folder,
    caption: plural(findings.length, 'finding'),
    list: findings.map(({ world, line, what }) => [world, line, what].filter(Boolean).join(' ')),
  }))
  return {
    kind: 'leaderboard',
    title: `${suite.name} ${suite.version}`,
    facts: `SHA-256 ${suite.sha256}`,
    alarms: [],
    figures: [],
    sections: [
      { title: 'Verified submissions', cards: verified },
      ...(refused.length > 0 ? [{ title: 'Rejected submissions', cards: refused }] : []),
    ],
    methods: [
      'Figures are computed again from sealed episodes, which the rules reproduce. Intervals are 99.9 %. A score is on the scale on which random play has 0 and the best play 1. There is no average over worlds. Means with failed episodes are over other tasks, so they come last.',
    ],
  }
}
