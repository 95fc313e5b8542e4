import type { Latency, Summary } from '@episodic/report'
import { formatCount, formatDuration, formatNumber, formatPercent, isShaped } from '@episodic/report'
import { plotRewardByStep, plotRewardByTerm } from '../plots/reward-plots.ts'
import { plotDifficulty, plotPassAtK, plotReturns, plotStepsToSuccess } from '../plots/score-plots.ts'
import { element, escapeHtml } from '../plots/svg.ts'
import { plotConcurrency, plotLatency } from '../plots/time-plots.ts'
import { cell, endsTable, groupsTable, returnsTable, seatsTable } from './tables.ts'

/** Returns, success and ends. */
export function renderScores({ returns, success, ends, counts }: Summary): string {
  const { unshaped } = returns
  const groups = [
    ...success.bySplit.map((row) => ({ ...row, kind: 'split' })),
    ...success.byTag.map((row) => ({ ...row, kind: 'tag' })),
  ]
  return section(
    'Score',
    card(
      'Return',
      'Unshaped return of an episode. The band is the 95 % interval of the mean.',
      unshaped && plotReturns(unshaped),
      'No episode finished, so there is no return.',
    ),
    card(
      'Success by difficulty',
      'Success rate in each tenth of difficulty, with its 95 % interval.',
      success.byDifficulty.length > 0 ? plotDifficulty(success.byDifficulty) : null,
      'No episode finished.',
    ),
    card(
      'pass@k',
      'Probability that at least one of k attempts succeeds, averaged over tasks.',
      success.passAtK.length > 0 ? plotPassAtK(success.passAtK) : null,
      'No episode finished.',
    ),
    card(
      'Steps to success',
      'Number of steps of the successful episodes.',
      success.steps && plotStepsToSuccess(success.steps),
      'No episode succeeded.',
    ),
    card(
      'Episode ends',
      `${formatCount(counts.finished)} finished episodes. Failed ones are listed separately.`,
      endsTable(ends, counts.finished),
      'No episode finished.',
    ),
    card(
      'Success by split and tag',
      'An episode counts under each of its tags.',
      groupsTable(groups),
      'No episode finished.',
    ),
  )
}

/** The main figures of every seat; nothing for an environment of one seat. */
export function renderSeats({ seats }: Summary): string {
  if (!seats) return ''
  const focus = seats.find((seat) => seat.focus)?.name ?? ''
  const caption = `All other figures of this page are those of ${focus}. A failed episode has no return for any seat.`
  return section('Seats', card('Figures of each seat', caption, seatsTable(seats), '', 'wide'))
}

/** Rewards by step and by term, and returns. */
export function renderRewards(summary: Summary): string {
  const { rewards, returns } = summary
  const { total, unshaped } = returns
  const shaped = isShaped(summary)
  const legend = element(
    'div',
    { class: 'legend' },
    element('span', {}, element('i', { class: 'key unshaped' }), 'unshaped'),
    shaped
      ? element('span', {}, element('i', { class: 'key shaped' }), 'shaped, as a learner receives it')
      : 'Shaping was off.',
    element('span', {}, element('i', { class: 'key reach' }), 'share of episodes with that many steps'),
  )
  return section(
    'Reward',
    card(
      'Reward by step',
      'Mean over the episodes that have the step.',
      rewards.byStep.length > 0 ? plotRewardByStep(rewards.byStep, shaped) + legend : null,
      'No finished episode has a step.',
    ),
    card(
      'Reward by term',
      'Mean sum of each raw term over an episode, before weights.',
      rewards.byTerm.length > 0
        ? plotRewardByTerm(rewards.byTerm, shaped && total && unshaped ? total.mean.mean - unshaped.mean.mean : null) +
            moreTerms(rewards.byTerm.length)
        : null,
      'No finished episode has a reward term.',
    ),
    card(
      'Return statistics',
      'Over finished episodes. Discounted is the discounted sum of the shaped rewards.',
      returnsTable(returns, shaped),
      'No episode finished.',
      'wide',
    ),
  )
}

function latencyRows(name: string, latency: Latency | null): [string, string][] {
  if (!latency) return []
  const { median, p90, p99, longest } = latency
  return [
    [`${name}, median (p50)`, formatDuration(median)],
    [`${name}, p90`, formatDuration(p90)],
    [`${name}, p99`, formatDuration(p99)],
    [`${name}, maximum`, formatDuration(longest)],
  ]
}

/** Latencies, durations and concurrency. */
export function renderTimes({ time }: Summary): string {
  const rows: [string, string][] = [
    ...latencyRows('World step', time.step),
    ...latencyRows('Model answer', time.model),
    ...(time.waited
      ? [['Waited for model, in all', formatDuration(time.waited.milliseconds)] as [string, string]]
      : []),
    ...(time.episode
      ? ([
          ['Episode, median', formatDuration(time.episode.median)],
          ['Episode, maximum', formatDuration(time.episode.most)],
        ] satisfies [string, string][])
      : []),
    ['Steps per second', formatNumber(time.stepsPerSecond)],
    ['Peak of episodes in flight', time.concurrency ? formatCount(time.concurrency.peak) : '–'],
  ]
  return section(
    'Time',
    card(
      'World step',
      'Time from sending an action to receiving the world’s answer, including failed episodes. The time of the policy is not included.',
      time.step && plotLatency(time.step, 'World step', 'steps'),
      'Unknown: no step was recorded, or an external agent played.',
    ),
    ...(time.model
      ? [
          card(
            'Model answer',
            'Time from sending a request to the end of the model’s answer, without requests that failed before and the waiting for the rate limit.',
            plotLatency(time.model, 'Model answer', 'answers'),
            '',
          ),
        ]
      : []),
    card(
      'Time statistics',
      'Percentiles are exact to 0.8 %.',
      element(
        'table',
        { class: 'tight' },
        ...rows.map(([name, value]) => element('tr', {}, element('td', {}, name), cell(value))),
      ),
      '',
    ),
    card(
      'Episodes in flight',
      'Concurrency of the run, from its first episode to its last.',
      time.concurrency && plotConcurrency(time.concurrency),
      'The run took no measurable time.',
      'wide',
    ),
  )
}

/** Failed episodes, which no score includes. */
export function renderFailures({ failures, counts }: Summary): string {
  const rows = failures.map(({ name, count, message }) =>
    element(
      'tr',
      {},
      element('td', {}, element('code', {}, escapeHtml(name))),
      cell(formatCount(count)),
      cell(formatPercent(count / (counts.finished + counts.failed))),
      element('td', { class: 'text' }, escapeHtml(message)),
    ),
  )
  const head = element(
    'tr',
    {},
    element('th', {}, 'Kind'),
    element('th', { class: 'number' }, 'Episodes'),
    element('th', { class: 'number' }, 'Share'),
    element('th', {}, 'Example'),
  )
  return section(
    'Failures',
    card(
      counts.failed === 0 ? 'None' : `${formatCount(counts.failed)} failed`,
      'A failure is an error of the infrastructure or the world. It does not count as zero: no figure above includes it.',
      rows.length > 0 ? element('div', { class: 'scroll' }, element('table', {}, head, ...rows)) : null,
      'No episode failed.',
      'wide',
    ),
  )
}

/** A heading with cards, two per row. */
export function section(title: string, ...cards: readonly string[]): string {
  return element('section', {}, element('h2', {}, title), element('div', { class: 'grid' }, ...cards))
}

/** A titled box; without `content` it shows `empty`. */
export function card(title: string, caption: string, content: string | null, empty: string, kind = ''): string {
  return element(
    'div',
    { class: `card plot ${kind}`.trim() },
    element('h3', {}, escapeHtml(title)),
    element('p', { class: 'caption' }, escapeHtml(caption)),
    content ?? element('p', { class: 'empty' }, escapeHtml(empty)),
  )
}

function moreTerms(count: number): string {
  return count > 8 ? element('p', { class: 'caption' }, `The 8 largest of ${count} terms.`) : ''
}
