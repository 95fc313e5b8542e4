import type { Summary } from '@episodic/report'
import {
  describeIntervals,
  describeRefused,
  describeRetried,
  describeRules,
  describeWaiting,
  formatCount,
  formatDuration,
  formatInterval,
  formatNumber,
  formatPercent,
  formatShareInterval,
  NOTHING,
  noteFailures,
  noteGuarantees,
  noteInterval,
  noteMissingRewards,
} from '@episodic/report'
import { element, escapeHtml, tip } from '../plots/svg.ts'

/** The row of main figures, each with its interval. */
export function renderHeadline(summary: Summary): string {
  const { success, returns, counts, time, tokens, branch, retried } = summary
  const notices = [noteFailures(summary), noteMissingRewards(summary)].filter((notice) => notice !== null)
  const pass = success.passAtK.at(-1)
  const unshaped = returns.unshaped?.mean
  const cards = [
    [
      'Success rate',
      formatPercent(success.overall.rate),
      noteInterval(success.overall, formatShareInterval),
      counts.finished > 0 ? `success: ${describeRules(success.rules)}` : '',
    ],
    [
      'Mean return, unshaped',
      formatNumber(unshaped?.mean ?? null),
      unshaped ? noteInterval(unshaped, formatInterval) : 'no finished episode',
    ],
    success.firstTry
      ? [
          'Success, first tries',
          formatPercent(success.firstTry.rate),
          noteInterval(success.firstTry, formatShareInterval),
          retried ? `played again: ${describeRetried(retried)}` : '',
        ]
      : null,
    pass && pass.k > 1 ? [`pass@${pass.k}`, formatPercent(pass.mean), noteInterval(pass, formatShareInterval)] : null,
    branch?.best.return
      ? [
          `Best of ${branch.leaves}`,
          formatNumber(branch.best.return.mean),
          noteInterval(branch.best.return, formatInterval),
        ]
      : null,
    [
      'Steps to success',
      success.steps ? formatNumber(success.steps.median).replace(/\.0+$/, '') : NOTHING,
      success.steps
        ? `median; quartiles ${success.steps.lowerQuartile} to ${success.steps.upperQuartile}`
        : 'no success',
    ],
    time.step ? ['World step', formatDuration(time.step.median), `median; p99 ${formatDuration(time.step.p99)}`] : null,
    time.model
      ? ['Model answer', formatDuration(time.model.median), `median; p99 ${formatDuration(time.model.p99)}`]
      : null,
    time.waited && time.waited.requests > 0
      ? ['Waited for model', formatDuration(time.waited.milliseconds), describeWaiting(time.waited)]
      : null,
    [
      'Episodes per second',
      time.episodesPerSecond === null ? NOTHING : formatNumber(time.episodesPerSecond),
      `${formatCount(counts.finished + counts.failed)} in ${formatDuration(time.milliseconds)}`,
    ],
    tokens
      ? [
          'Tokens',
          formatCount(tokens.prompt + tokens.completion),
          `${formatCount(tokens.completion)} completion, ${formatCount(tokens.requests)} requests`,
        ]
      : null,
    tokens && tokens.cost !== null
      ? ['Cost', formatNumber(tokens.cost), `${formatNumber(tokens.cost / tokens.episodes)} per episode`]
      : null,
  ].filter((card) => card !== null)
  return element(
    'section',
    { 'aria-label': 'Headline figures' },
    ...notices.map((notice) => element('p', { class: 'alarm', role: 'alert' }, escapeHtml(notice))),
    renderCards(cards),
    element(
      'p',
      { class: 'caption' },
      escapeHtml([describeIntervals(success.overall), ...noteGuarantees(summary)].join(' ')),
    ),
  )
}

/** A row of figures, each with a name above and notes below. */
export function renderCards(cards: readonly (readonly string[])[]): string {
  return element(
    'div',
    { class: 'headline' },
    ...cards.map(([name = '', figure = '', ...notes]) =>
      element(
        'div',
        { class: 'card' },
        element('div', { class: 'figure-name' }, escapeHtml(name)),
        element('div', { class: 'figure' }, escapeHtml(figure)),
        ...notes.map((note) => element('div', { class: 'figure-note' }, escapeHtml(note))),
      ),
    ),
  )
}

/** The outcomes of all scheduled episodes as one bar. */
export function renderAccount({ counts, success, ends }: Summary): string {
  const cut = ends.truncated.reduce((sum, { count }) => sum + count, 0)
  const truncated = cut - success.truncated
  const parts = [
    ['good', 'succeeded', success.overall.successes],
    ['fell-short', 'terminated without success', counts.finished - truncated - success.overall.successes],
    ['truncated', success.truncated > 0 ? 'truncated without success' : 'truncated', truncated],
    ['bad', 'failed (not scored)', counts.failed],
    ['pending', 'unresolved', counts.unresolved],
  ] as const
  let at = 0
  const shown = parts.filter(([, , count]) => count > 0)
  const bar = shown.map(([kind, name, count]) => {
    const width = (count / Math.max(1, counts.scheduled)) * 1_000
    const piece = element(
      'rect',
      { class: kind, x: at, y: 0, width, height: 10 },
      tip(`${name}: ${formatCount(count)}`),
    )
    at += width
    return piece
  })
  return element(
    'section',
    { class: 'card account', 'aria-label': 'Scheduled episodes' },
    element('svg', { viewBox: '0 0 1000 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, ...bar),
    element(
      'div',
      { class: 'legend' },
      element('span', {}, element('b', {}, formatCount(counts.scheduled)), ' scheduled'),
      ...shown.map(([kind, name, count]) =>
        element('span', {}, element('i', { class: `key ${kind}` }), element('b', {}, formatCount(count)), ` ${name}`),
      ),
      counts.refused > 0
        ? element(
            'span',
            {},
            element('b', {}, formatCount(counts.refused)),
            ` refused steps ${describeRefused(counts)}`,
          )
        : '',
    ),
  )
}
