import { describeRules } from '../report/fold/scored-outcome.ts'
import { renderCards } from '../report/page/headline.ts'
import { renderHtmlPage } from '../report/page/html-page.ts'
import { PAGE_STYLE } from '../report/page/page-style.ts'
import { card, section } from '../report/page/sections.ts'
import { cell } from '../report/page/tables.ts'
import { formatCount } from '../report/plots/format.ts'
import { element, escapeHtml } from '../report/plots/svg.ts'
import type { Comparison } from './comparison.ts'
import { aloneIn, figureRows, methodOf, otherDifferences, plural, verdictOf } from './describe-comparison.ts'
import { plotByDifficulty, plotByTask } from './difference-plots.ts'
import { FLIP_STYLE, renderFlip, type ShownFlip } from './flip-panels.ts'

/** The flipped episodes that a page shows step by step. */
export interface ShownFlips {
  readonly gained: readonly ShownFlip[]
  readonly lost: readonly ShownFlip[]
}

/**
 * Renders a comparison as one HTML page that needs nothing else: no request leaves it, and no script runs in it.
 *
 * The same comparison and plays give the same bytes. What worlds and policies said is text to the page.
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
        'Difference in return of each task',
        'One bar a task: above the line B earned more, below it less. The band is the 95 % interval of the mean.',
        plotByTask(comparison),
        'No task has a finished episode in both runs.',
        'wide',
      ),
      card('In figures', 'Means over tasks.', figuresTable(comparison), 'No task has a finished episode in both runs.'),
      card(
        'Difference in success by difficulty',
        'In points, with the 95 % interval over the tasks of each tenth.',
        plotByDifficulty(comparison),
        'No task has a finished episode in both runs.',
      ),
    ),
    renderFlips('Solved by B alone', 'gained', comparison.episodes.gained.count, comparison, flips.gained),
    renderFlips('Solved by A alone', 'lost', comparison.episodes.lost.count, comparison, flips.lost),
    renderRuns(comparison),
    renderNotes(comparison),
  )
  return renderHtmlPage({ title: `${title} · Episodic comparison`, style: PAGE_STYLE + FLIP_STYLE, body })
}

const cardNames: Readonly<Record<string, string>> = {
  success: 'Success rate, B − A',
  return: 'Mean return, B − A',
  steps: 'Steps of an episode, B − A',
}

function renderTitle(title: string, comparison: Comparison): string {
  const { environment, a, b, tasks } = comparison
  const told = [environment, `A is ${a.name} (${a.policy})`, `B is ${b.name} (${b.policy})`]
  const warnings = [
    ...otherDifferences(comparison).map((row) => `${row.key} differs too: ${row.a} in A, ${row.b} in B.`),
    aloneIn('A', tasks.onlyA),
    aloneIn('B', tasks.onlyB),
  ].filter((line) => line !== null)
  return element(
    'header',
    {},
    element('p', { class: 'kicker' }, 'Episodic comparison'),
    element('h1', {}, escapeHtml(title)),
    element('p', { class: 'meta' }, escapeHtml([...told, `${plural(tasks.shared, 'task')} in both`].join(' · '))),
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
  const told = [
    `Of ${plural(episodes.paired, 'episode')} of one task and attempt that finished in both runs.`,
    shown.length < count ? `The first ${formatCount(shown.length)} by task are shown.` : '',
    shown.length > 0 ? 'Open one to see both plays.' : '',
  ].filter((sentence) => sentence !== '')
  return element(
    'section',
    {},
    element('h2', { class: kind }, `${title}: ${formatCount(count)}`),
    element('p', { class: 'caption' }, told.join(' ')),
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
    card('Episodes', 'Failed ones are void: in no figure above.', element('table', {}, head, ...accounts), ''),
    card(
      'What they were asked to do differently',
      '',
      settings.length > 0 ? element('div', { class: 'scroll' }, element('table', {}, head, ...settings)) : null,
      'Nothing: the runs have one configuration.',
    ),
  )
}

function renderNotes({ successRules }: Comparison): string {
  const notes = [
    'Both runs played the same tasks: one world, one set of parameters, one seed. So each task is compared with itself, and what makes tasks differ from each other drops out of the difference.',
    'Each task counts once, with the mean over the finished episodes that a run has of it: rollouts of one task are not independent of each other. Intervals are Student’s t over the tasks’ differences (Miller 2024, section 4).',
    'The exact sign test asks how likely a fair coin splits the tasks that differ at least as unevenly, either way; with one rollout a task it is McNemar’s exact test (1947). It holds for any number of tasks.',
    `An episode solves its task when it succeeds: ${describeRules(successRules)}. A failed episode is no zero: it is counted, and in no figure.`,
  ]
  return section(
    'How to read this',
    element('div', { class: 'card wide notes' }, ...notes.map((note) => element('p', {}, escapeHtml(note)))),
  )
}
