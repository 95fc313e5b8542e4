import type { Proportion, Summary } from '@episodic/report'
import { formatCount, formatInterval, formatNumber, formatPercent, formatShareInterval } from '@episodic/report'
import { element, escapeHtml } from '../plots/svg.ts'

/** The ends of finished episodes, with their shares; `null` if no episode finished. */
export function endsTable({ terminated, truncated }: Summary['ends'], finished: number): string | null {
  const rows = [
    ...terminated.map((end) => ({ ...end, kind: 'terminated', color: 'fell-short' })),
    ...truncated.map((end) => ({ ...end, kind: 'truncated', color: 'truncated' })),
  ].map(({ name, count, kind, color }) =>
    element(
      'tr',
      {},
      element('td', {}, escapeHtml(name), ' ', element('span', { class: 'badge' }, kind)),
      meter(count / finished, color),
      cell(formatCount(count)),
      cell(formatPercent(count / finished)),
    ),
  )
  return rows.length > 0 ? element('div', { class: 'scroll' }, element('table', {}, ...rows)) : null
}

/** The mean and the distribution of each kind of return; `null` if no episode finished. */
export function returnsTable(returns: Summary['returns'], shaped: boolean): string | null {
  const names = [
    ['Unshaped', returns.unshaped],
    ['Shaped', shaped ? returns.total : null],
    ['Discounted', returns.discounted],
  ] as const
  const rows = names.flatMap(([name, distribution]) => {
    if (!distribution) return []
    const { mean, least, lowerQuartile, median, upperQuartile, most } = distribution
    const figures = [mean.mean, least, lowerQuartile, median, upperQuartile, most].map(formatNumber)
    const cells = [...figures.slice(0, 1), formatInterval(mean), ...figures.slice(1)]
    return element('tr', {}, element('td', {}, name), ...cells.map(cell))
  })
  const head = ['Return', 'Mean', '95 % interval', 'Minimum', 'Lower quartile', 'Median', 'Upper quartile', 'Maximum']
  const heads = head.map((name, i) => element('th', { class: i > 0 ? 'number' : undefined }, name))
  return rows.length > 0
    ? element('div', { class: 'scroll' }, element('table', { class: 'even' }, element('tr', {}, ...heads), ...rows))
    : null
}

/** The main figures of every seat. */
export function seatsTable(seats: NonNullable<Summary['seats']>): string {
  const rows = seats.map(({ name, focus, policies, success, return: earned, steps, refused, tokens, faults }) => [
    element('td', {}, escapeHtml(name), focus ? element('span', { class: 'badge' }, 'focus') : ''),
    element('td', {}, escapeHtml(policies.join(', '))),
    cell(formatPercent(success.rate)),
    cell(formatShareInterval(success)),
    cell(formatNumber(earned?.mean ?? null)),
    cell(earned ? formatInterval(earned) : ''),
    cell(formatCount(steps)),
    cell(formatCount(refused)),
    cell(tokens ? formatCount(tokens.prompt + tokens.completion) : ''),
    cell(formatCount(faults)),
  ])
  const head = [
    'Seat',
    'Policy',
    'Success',
    '95 %',
    'Return',
    '95 %',
    'Steps',
    'Refused',
    'Tokens',
    'Failed at this seat',
  ]
  return figuresTable(head, rows, 2)
}

/** Success in each group of episodes; `null` if no episode finished. */
export function groupsTable(
  groups: readonly (Proportion & { readonly name: string; readonly kind: string })[],
): string | null {
  const rows = groups.map(({ name, kind, rate, low, high, count }) =>
    element(
      'tr',
      {},
      element('td', {}, escapeHtml(name), ' ', element('span', { class: 'badge' }, kind)),
      meter(rate ?? 0, 'good'),
      cell(formatPercent(rate)),
      cell(formatShareInterval({ low, high })),
      cell(formatCount(count)),
    ),
  )
  const head = ['Group', '', 'Success', '95 % interval', 'Episodes'].map((name, i) =>
    element('th', { class: i > 1 ? 'number' : undefined }, name),
  )
  return rows.length > 0
    ? element('div', { class: 'scroll' }, element('table', {}, element('tr', {}, ...head), ...rows))
    : null
}

function meter(share: number, color: string): string {
  return element(
    'td',
    { class: 'meter' },
    element(
      'svg',
      { viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      element('rect', { class: 'track', width: 100, height: 8 }),
      element('rect', { class: color, width: share * 100, height: 8 }),
    ),
  )
}

/**
 * A table with a head, of rows of finished cells.
 *
 * @param texts - how many of the first columns are texts; the others are figures.
 */
export function figuresTable(head: readonly string[], rows: readonly (readonly string[])[], texts: number): string {
  const heads = head.map((name, i) => element('th', { class: i >= texts ? 'number' : undefined }, escapeHtml(name)))
  const lines = rows.map((cells) => element('tr', {}, ...cells))
  return element('div', { class: 'scroll' }, element('table', { class: 'even' }, element('tr', {}, ...heads), ...lines))
}

/** A figure in a table. */
export function cell(text: string): string {
  return element('td', { class: 'number' }, escapeHtml(text))
}
