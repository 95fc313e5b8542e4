import { formatCount, plural } from '@episodic/report'
import { element, escapeHtml, tip } from '../../base/svg.ts'
import { renderCards } from '../../run-folder/page/headline.ts'
import { renderHtmlPage } from '../../run-folder/page/html-page.ts'
import { PAGE_STYLE } from '../../run-folder/page/page-style.ts'
import { cell } from '../../run-folder/page/tables.ts'
import { formatFigureName, formatHere, formatReference, formatVerdict } from './format-figure.ts'
import type { LineResult, SuiteResult } from './suite-result.ts'

/**
 * Renders the result of a suite as a self-contained HTML page without requests and scripts. Returns the same bytes for
 * the same result. All texts of suites and worlds are escaped.
 */
export function renderSuite(result: SuiteResult): string {
  const { suite, counts, seed, episodes, policy, worlds, versions } = result
  const facts = [
    `seed ${seed}`,
    `${plural(episodes, 'episode')} of each played figure`,
    ...(policy === null ? [] : [`scored: ${policy}`]),
    `Episodic ${versions.episodic}, Node ${versions.node}`,
  ]
  const body = element(
    'main',
    {},
    element(
      'header',
      {},
      element('p', { class: 'kicker' }, 'Episodic suite'),
      element('h1', {}, escapeHtml(`${suite.name} ${suite.version}`)),
      element('p', { class: 'meta' }, escapeHtml(facts.join(' · '))),
    ),
    ...(counts.differ + counts.notChecked > 0
      ? [element('p', { class: 'alarm', role: 'alert' }, escapeHtml(formatProblems(counts)))]
      : []),
    renderCards([
      ['References', formatCount(counts.references), `in ${plural(worlds.length, 'world')}`],
      ['Hold', formatCount(counts.hold), 'exact, or inside the 99.9 % interval'],
      ['Differ', formatCount(counts.differ)],
      ['Not checked', formatCount(counts.notChecked), 'because episodes failed'],
    ]),
    ...worlds.map(renderWorld),
    renderNotes(suite.sha256),
  )
  return renderHtmlPage({
    title: `${suite.name} ${suite.version} · Episodic suite`,
    style: PAGE_STYLE + SUITE_STYLE,
    body,
  })
}

const SUITE_STYLE = `
td { vertical-align: middle; } th { white-space: nowrap; } td.quantity { min-width: 250px; }
td.strip { width: 150px; } td.strip svg { display: block; width: 150px; height: 16px; }
.badge.same, .badge.inside { color: var(--good); } .badge.differs { color: var(--bad); font-weight: 600; } .badge.not-checked { color: var(--shaped); }
td .badge { white-space: nowrap; }
.suite { overflow-x: auto; } td.reference { color: var(--muted); font-size: 12.5px; }
`

function formatProblems({ differ, notChecked }: SuiteResult['counts']): string {
  return [
    ...(differ > 0 ? [`${plural(differ, 'figure')} ${differ === 1 ? 'differs' : 'differ'} from the reference.`] : []),
    ...(notChecked > 0 ? [`${plural(notChecked, 'figure')} could not be checked.`] : []),
  ].join(' ')
}

function renderWorld({ environment, lines }: SuiteResult['worlds'][number]): string {
  const head = ['Quantity', 'Here', '99.9 %', '', 'Reference', 'Source', ''].map((name, i) =>
    element('th', { class: i === 1 || i === 4 ? 'number' : undefined }, name),
  )
  return element(
    'section',
    {},
    element('h2', {}, escapeHtml(`${environment.name} ${environment.version}`)),
    element('div', { class: 'card suite' }, element('table', {}, element('tr', {}, ...head), ...lines.map(renderLine))),
  )
}

function renderLine(line: LineResult): string {
  const { figure, half } = formatHere(line)
  const reference = formatReference(line)
  const verdict = line.kind === 'scored' ? 'scored' : line.verdict
  return element(
    'tr',
    {},
    element('td', { class: 'quantity' }, escapeHtml(formatFigureName(line))),
    cell(figure),
    element('td', { class: 'name' }, escapeHtml(half)),
    element('td', { class: 'strip' }, line.kind === 'exact' ? '' : renderStrip(line)),
    cell(reference.figure),
    element('td', { class: 'reference' }, escapeHtml(reference.source)),
    element('td', {}, element('span', { class: `badge ${verdict}` }, escapeHtml(formatVerdict(line)))),
  )
}

const WIDTH = 150
const HEIGHT = 16
const EDGE = 6

/**
 * Draws the interval of a mean with a mark at its reference, which is in the middle; that of a scored line between
 * random and best play.
 */
function renderStrip(line: Exclude<LineResult, { kind: 'exact' }>): string {
  const shown = line.kind === 'scored' ? line.score : line.here
  if (!shown) return ''
  const { mean, low, high } = shown
  const marks = line.kind === 'scored' ? [0, 1] : [line.reference.value]
  const around = line.kind === 'played' ? [2 * line.reference.value - low, 2 * line.reference.value - high] : []
  const values = [...marks, low, high, mean, ...around]
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const x = (value: number) =>
    most === least ? WIDTH / 2 : EDGE + ((value - least) / (most - least)) * (WIDTH - 2 * EDGE)
  const kind = line.kind === 'scored' ? 'unshaped' : line.verdict === 'differs' ? 'bad' : 'good'
  const middle = HEIGHT / 2
  return element(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img' },
    tip(`${formatHere(line).figure} ${formatHere(line).half}`.trim()),
    element('rect', { class: 'track', x: 0, y: middle - 1, width: WIDTH, height: 2 }),
    element('rect', { class: kind, x: x(low), y: middle - 2, width: Math.max(1, x(high) - x(low)), height: 4, rx: 2 }),
    ...marks.map((mark) => element('line', { class: 'marker', x1: x(mark), x2: x(mark), y1: 0, y2: HEIGHT })),
    element('circle', { class: kind, cx: x(mean), cy: middle, r: 4 }),
  )
}

function renderNotes(sha256: string): string {
  const notes = [
    'An exact figure is measured on the rules of its world as they are served. A played figure is the mean unshaped return of independent episodes: it agrees if its 99.9 % confidence interval, widened by the tolerance of the reference, holds the reference. The interval is Wilson’s if every return is 0 or 1, and otherwise Student’s t.',
    'Strips show the interval, with a dashed mark at the reference. A score is on the scale on which random play has 0 and the best play 1. There is no average over worlds, whose scales have nothing in common.',
    `Failed episodes are never a return of zero: a figure with any is not checked. The SHA-256 of this suite is ${sha256}.`,
  ]
  return element(
    'section',
    {},
    element('h2', {}, 'Methods'),
    element('div', { class: 'card notes' }, ...notes.map((note) => element('p', {}, escapeHtml(note)))),
  )
}
