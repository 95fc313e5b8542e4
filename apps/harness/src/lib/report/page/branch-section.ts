import type { Summary } from '@episodic/report'
import {
  formatCount,
  formatInterval,
  formatNumber,
  formatPercent,
  formatShareInterval,
  noteInterval,
} from '@episodic/report'
import { element, escapeHtml } from '../plots/svg.ts'
import { nameLine, plotTree } from '../plots/tree-plot.ts'
import { card, section } from './sections.ts'
import { cell } from './tables.ts'

type Branches = NonNullable<Summary['branch']>
type Tree = Branches['trees'][number]

/** The section of a branched run: the best leaf of a rollout, and the values of the states at branch points. */
export function renderBranches({ branch }: Summary): string {
  if (!branch) return ''
  return section(
    'Branches',
    card(
      `Best of ${formatCount(branch.leaves)}`,
      `The best leaf of each of ${formatCount(branch.rollouts)} rollouts, beside the mean leaf. The leaves of a rollout share steps, and intervals are clustered by task.${branch.partial > 0 ? ` ${formatCount(branch.partial)} rollouts are left out: a leaf failed or is missing.` : ''}`,
      branch.rollouts > 0 ? scoresTable(branch) : null,
      'No rollout finished with all of its leaves.',
      'wide',
    ),
    ...branch.trees.map((tree) =>
      card(
        `${tree.task}, rollout ${tree.rollout}`,
        'V̂ is the mean return-to-go of the lines that part at a state, with its 95 % interval over these lines.',
        plotTree(tree) + pointsTable(tree),
        '',
        'wide',
      ),
    ),
  )
}

/** Says what a state is worth: `0.123 (95 % 0.045 to 0.201)`. */
export function describeValue(value: Tree['points'][number]['value']): string {
  if (!value) return 'unknown: no line finished'
  const note =
    value.low !== null
      ? `95 % ${formatInterval(value)}`
      : value.clusters < 2
        ? 'one line: no interval'
        : 'the same in every line: no interval'
  return `${formatNumber(value.mean)} (${note})`
}

function scoresTable({ leaves, best, mean }: Branches): string {
  const rows = [
    [`Best of ${formatCount(leaves)}`, best],
    ['Mean leaf', mean],
  ] as const
  const head = ['', 'Return, unshaped', '95 % interval', 'Success', '95 % interval']
  return element(
    'table',
    {},
    element('tr', {}, ...head.map((name, i) => element('th', { class: i > 0 ? 'number' : undefined }, name))),
    ...rows.map(([name, { return: earned, success }]) =>
      element(
        'tr',
        {},
        element('td', {}, name),
        cell(formatNumber(earned?.mean ?? null)),
        cell(earned ? noteInterval(earned, formatInterval) : ''),
        cell(formatPercent(success.rate)),
        cell(noteInterval(success, formatShareInterval)),
      ),
    ),
  )
}

function pointsTable({ points, omitted }: Tree): string {
  const head = ['Step', 'Line', 'Observation', 'V̂', 'Return-to-go of each line']
  const rows = points.map(({ at, path, observation, value, returnsToGo }) =>
    element(
      'tr',
      {},
      cell(formatCount(at)),
      cell(nameLine(path)),
      element('td', { class: 'text' }, escapeHtml(observation)),
      element('td', {}, escapeHtml(describeValue(value))),
      element('td', {}, escapeHtml(returnsToGo.map(formatNumber).join('   '))),
    ),
  )
  if (rows.length === 0) return element('p', { class: 'empty' }, 'The episode ended before it could branch.')
  const more = omitted.points > 0 ? element('p', { class: 'caption' }, `And ${formatCount(omitted.points)} more.`) : ''
  const heads = head.map((name, i) => element('th', { class: i < 2 ? 'number' : undefined }, name))
  return element('div', { class: 'scroll' }, element('table', {}, element('tr', {}, ...heads), ...rows)) + more
}
