import type { Comparison } from '@episodic/report'
import {
  aloneIn,
  describeRules,
  figureRows,
  formatCount,
  methodOf,
  otherDifferences,
  plural,
  UNSEEDED,
  verdictOf,
} from '@episodic/report'
import { renderCards } from '../report/page/headline.ts'
import { renderHtmlPage } from '../report/page/html-page.ts'
import { PAGE_STYLE } from '../report/page/page-style.ts'
import { card, section } from '../report/page/sections.ts'
import { cell } from '../report/page/tables.ts'
import { element, escapeHtml } from '../report/plots/svg.ts'
import { plotByDifficulty, plotByTask } from './difference-plots.ts'
import { FLIP_STYLE, renderFlip, type ShownFlip } from './flip-panels.ts'

/** The flipped episodes that the page shows step by step. */
export interface ShownFlips {
  readonly gained: readonly ShownFlip[]
  readonly lost: readonly ShownFlip[]
}

/**
 * Renders a comparison as a self-contained HTML page without requests and scripts.
 *
 * Returns the same bytes for the same comparison and plays. All output of worlds and policies is escaped.
 */
export function renderComparison(comparison: Comparison, flips: ShownFlips): string {
  const title = `${comparison.b.name} against ${comparison.a.name}`
  const body = element(
    'main',
    {},
    renderTitle(title, comparison),
    renderCards(
      figureRows(comparison).map((row) => [
        cardNames[row.name] ?? row.name,
        row.difference,
        row.interval.includes(' to ') ? `95 % ${row.interval}` : row.interval,
      ]),
    ),
    element('p', { class: 'caption' }, escapeHtml(methodOf(comparison))),
    section(
      'Difference',
      card(
        'Difference in return by task',
        'One bar per task: positive if B earned more. The band is the 95 % interval of the mean.',
        plotByTask(comparison),
        'No task has a finished episode in both runs.',
        'wide',
      ),
      card('Statistics', 'Means over tasks.', figuresTable(comparison), 'No task has a finished episode in both runs.'),
      card(
        'Difference in success by difficulty',
        'In percentage points, with the 95 % interval over the tasks of each tenth.',
        plotByDifficulty(comparison),
        'No task has a finished episode in both runs.',
      ),
    ),
    renderFlips('Solved only by B', 'gained', comparison.episodes.gained.count, comparison, flips.gained),
    renderFlips('Solved only by A', 'lost', comparison.episodes.lost.count, comparison, flips.lost),
    renderRuns(comparison),
    renderNotes(comparison),
  )
  return renderHtmlPage({ title: `${title} · Episodic comparison`, style: PAGE_STYLE + FLIP_STYLE, body })
}

const cardNames: Readonly<Record<string, string>> = {
  success: 'Success rate, B − A',
  return: 'Mean return, B − A',
  steps: 'Episode length in steps, B − A',
  tokens: 'Tokens of an episode, B − A',
  cost: 'Cost of an episode, B − A',
}

function renderTitle(title: string, comparison: Comparison): string {
  const { environment, a, b, tasks } = comparison
  const runs = [environment, `A is ${a.name} (${a.policy})`, `B is ${b.name} (${b.policy})`]
  const warnings = [
    ...otherDifferences(comparison).map((row) => `${row.key} also differs: ${row.a} in A, ${row.b} in B.`),
    aloneIn('A', tasks.onlyA),
    aloneIn('B', tasks.onlyB),
  ].filter((line) => line !== null)
  return element(
    'header',
    {},
    element('p', { class: 'kicker' }, 'Episodic comparison'),
    element('h1', {}, escapeHtml(title)),
    element('p', { class: 'meta' }, escapeHtml([...runs, `${plural(tasks.shared, 'task')} in both`].join(' · '))),
    element('p', { class: 'verdict' }, escapeHtml(verdictOf(comparison))),
    ...warnings.map((line) => element('p', { class: 'warning' }, escapeHtml(line))),
  )
}

function figuresTable(comparison: Comparison): string | null {
  const rows = figureRows(comparison).map((row) =>
    element(
      'tr',
      {},
      element('td', { class: 'name' }, row.name),
      cell(row.a),
      cell(row.b),
      element('td', {}, escapeHtml(row.tasks)),
    ),
  )
  const head = ['', 'A', 'B', 'Tasks in which B is'].map((name, i) =>
    element('th', { class: i === 1 || i === 2 ? 'number' : undefined }, name),
  )
  return rows.length > 0 ? element('table', {}, element('tr', {}, ...head), ...rows) : null
}

function renderFlips(
  title: string,
  kind: string,
  count: number,
  { episodes }: Comparison,
  shown: readonly ShownFlip[],
): string {
  const sentences = [
    `Of ${plural(episodes.paired, 'episode')} with the same task and attempt that finished in both runs.`,
    shown.length < count ? `The first ${formatCount(shown.length)} by task are shown.` : '',
    shown.length > 0 ? 'Expand one to see both plays.' : '',
  ].filter((sentence) => sentence !== '')
  return element(
    'section',
    {},
    element('h2', { class: kind }, `${title}: ${formatCount(count)}`),
    element('p', { class: 'caption' }, sentences.join(' ')),
    ...shown.map(renderFlip),
  )
}

function renderRuns({ a, b, configuration }: Comparison): string {
  const counts = ['scheduled', 'finished', 'failed', 'unresolved'] as const
  const head = element(
    'tr',
    {},
    ...['', 'A', 'B'].map((name, i) => element('th', { class: i > 0 ? 'number' : undefined }, name)),
  )
  const accounts = counts.map((name) =>
    element('tr', {}, element('td', {}, name), cell(formatCount(a[name])), cell(formatCount(b[name]))),
  )
  const settings = configuration.map((row) =>
    element(
      'tr',
      {},
      element('td', {}, escapeHtml(row.key)),
      ...[row.a, row.b].map((value) => element('td', { class: 'number' }, element('code', {}, escapeHtml(value)))),
    ),
  )
  return section(
    'The runs',
    card('Episodes', 'No figure above includes failed ones.', element('table', {}, head, ...accounts), ''),
    card(
      'Differing settings',
      '',
      settings.length > 0 ? element('div', { class: 'scroll' }, element('table', {}, head, ...settings)) : null,
      'The runs have the same configuration.',
    ),
  )
}

function renderNotes({ successRules, seeded }: Comparison): string {
  const notes = [
    'Both runs played the same tasks, with the same environment, parameters and seed. So each task is compared with itself, and the variance between tasks cancels out.',
    'Each task counts once, with the mean over its finished episodes in a run, because rollouts of one task are not independent of each other. Intervals are Student’s t over the differences by task (Miller 2024, section 4).',
    'The p-value of the exact sign test is the probability that a fair coin splits the differing tasks at least as unevenly, in either direction; with one rollout per task it is McNemar’s exact test (1947). It is valid for any number of tasks.',
    ...(seeded ? [] : [UNSEEDED]),
    `An episode solves its task if it succeeds: ${describeRules(successRules)}. A failed episode does not count as zero: no figure includes it.`,
  ]
  return section(
    'Methods',
    element('div', { class: 'card wide notes' }, ...notes.map((note) => element('p', {}, escapeHtml(note)))),
  )
}
