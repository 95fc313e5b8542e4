import { plural } from '@episodic/report'
import { element, escapeHtml } from '../../base/svg.ts'
import { renderHtmlPage } from '../../run-folder/page/html-page.ts'
import { PAGE_STYLE } from '../../run-folder/page/page-style.ts'
import { card, section } from '../../run-folder/page/sections.ts'
import { entryCells, formatAnchors } from './format-leaderboard.ts'
import type { Leaderboard, LeaderboardTable } from './leaderboard.ts'

/**
 * Renders a leaderboard as a self-contained HTML page without requests and scripts. All texts of submissions are
 * escaped.
 */
export function renderLeaderboard({ suite, tables, rejected }: Leaderboard): string {
  const title = `${suite.name} ${suite.version}`
  const body = element(
    'main',
    {},
    element(
      'header',
      {},
      element('p', { class: 'kicker' }, 'Episodic leaderboard'),
      element('h1', {}, escapeHtml(title)),
      element('p', { class: 'meta' }, escapeHtml(`SHA-256 ${suite.sha256}`)),
    ),
    section('Verified submissions', ...tables.map(renderTable)),
    rejected.length === 0
      ? ''
      : section(
          'Rejected submissions',
          ...rejected.map(({ folder, findings }) =>
            card(
              folder,
              plural(findings.length, 'finding'),
              element(
                'ul',
                {},
                ...findings.map(({ world, line, what }) =>
                  element('li', {}, escapeHtml([world, line].filter(Boolean).join(' ')), ' ', escapeHtml(what)),
                ),
              ),
              '',
              'wide',
            ),
          ),
        ),
    element(
      'p',
      { class: 'caption' },
      'Figures are computed again from sealed episodes, which the rules reproduce. Intervals are 99.9 %. A score is on the scale on which random play has 0 and the best play 1. There is no average over worlds. Means with failed episodes are over other tasks, so they come last.',
    ),
  )
  return renderHtmlPage({ title: `${title} · Episodic leaderboard`, style: PAGE_STYLE, body })
}

function renderTable(table: LeaderboardTable): string {
  const head = ['', 'Policy', 'Return', 'Score', '', 'Submission'].map((name) => element('th', {}, name))
  const rows = table.entries.map((entry, i) =>
    element(
      'tr',
      {},
      element('td', {}, String(i + 1)),
      ...entryCells(entry).map((text) => element('td', {}, escapeHtml(text))),
    ),
  )
  return card(
    [table.world, table.variant].filter(Boolean).join(' '),
    formatAnchors(table),
    element('table', {}, element('tr', {}, ...head), ...rows),
    '',
  )
}
