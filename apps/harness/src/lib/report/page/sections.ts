import type { Summary } from '../fold/summary.ts'
import { formatCount, formatDuration, formatNumber, formatPercent } from '../plots/format.ts'
import { plotRewardByStep, plotRewardByTerm } from '../plots/reward-plots.ts'
import { plotDifficulty, plotPassAtK, plotReturns, plotStepsToSuccess } from '../plots/score-plots.ts'
import { element, escapeHtml } from '../plots/svg.ts'
import { plotConcurrency, plotLatency } from '../plots/time-plots.ts'
import { isShaped } from './notes.ts'
import { cell, endsTable, groupsTable, returnsTable } from './tables.ts'

/** How well it went: returns, success, and how episodes ended. */
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
      'What the world paid in an episode. The band is the 95 % interval of the mean.',
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
      'The chance that at least one of k attempts succeeds, averaged over tasks.',
      success.passAtK.length > 0 ? plotPassAtK(success.passAtK) : null,
      'No episode finished.',
    ),
    card(
      'Steps to success',
      'How many steps the successful episodes took.',
      success.steps && plotStepsToSuccess(success.steps),
      'No episode succeeded.',
    ),
    card(
      'How episodes ended',
      `${formatCount(counts.finished)} finished episodes. Failed ones are listed apart.`,
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

/** Where the reward came from. */
export function renderRewards(summary: Summary): string {
  const { rewards, returns } = summary
  const { total, unshaped } = returns
  const shaped = isShaped(summary)
  const legend = element(
    'div',
    { class: 'legend' },
    element('span', {}, element('i', { class: 'key unshaped' }), 'unshaped'),
    shaped
      ? element('span', {}, element('i', { class: 'key shaped' }), 'shaped, what a learner gets')
      : 'Shaping was off.',
    element('span', {}, element('i', { class: 'key reach' }), 'share of episodes that got this far'),
  )
  return section(
    'Reward',
    card(
      'Reward by step',
      'The mean over the episodes that got to the step.',
      rewards.byStep.length > 0 ? plotRewardByStep(rewards.byStep, shaped) + legend : null,
      'No finished episode has a step.',
    ),
    card(
      'Reward by term',
      'The mean sum of each raw term over an episode, before weights.',
      rewards.byTerm.length > 0
        ? plotRewardByTerm(rewards.byTerm, shaped && total && unshaped ? total.mean.mean - unshaped.mean.mean : null) +
            moreTerms(rewards.byTerm.length)
        : null,
      'No finished episode has a reward term.',
    ),
    card(
      'Returns in figures',
      'Over finished episodes. Discounted is the discounted sum of what a learner gets.',
      returnsTable(returns, shaped),
      'No episode finished.',
      'wide',
    ),
  )
}

/** How fast it went. */
export function renderTimes({ time }: Summary): string {
  const rows: [string, string][] = [
    ...(time.step
      ? ([
          ['A step, median (p50)', formatDuration(time.step.median)],
          ['A step, p90', formatDuration(time.step.p90)],
          ['A step, p99', formatDuration(time.step.p99)],
          ['A step, longest', formatDuration(time.step.longest)],
        ] satisfies [string, string][])
      : []),
    ...(time.episode
      ? ([
          ['An episode, median', formatDuration(time.episode.median)],
          ['An episode, longest', formatDuration(time.episode.most)],
        ] satisfies [string, string][])
      : []),
    ['Steps a second', formatNumber(time.stepsPerSecond)],
    ['Most episodes in flight', time.concurrency ? formatCount(time.concurrency.peak) : '–'],
  ]
  return section(
    'Time',
    card(
      'Answer of the world to a step',
      'From sending an action to having the answer, failed episodes included. What a player takes to choose is not in it.',
      time.step && plotLatency(time.step),
      'Not known: no step was recorded, or an agent played by itself.',
    ),
    card(
      'In figures',
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
      'How busy the run was, from its first episode to its last.',
      time.concurrency && plotConcurrency(time.concurrency),
      'The run took no measurable time.',
      'wide',
    ),
  )
}

/** What broke, apart from every score. */
export function renderFailures({ failures, counts }: Summary): string {
  const rows = failures.map(({ name, count, message }) =>
    element(
      'tr',
      {},
      element('td', {}, element('code', {}, escapeHtml(name))),
      cell(formatCount(count)),
      cell(formatPercent(count / (counts.finished + counts.failed))),
      element('td', { class: 'told' }, escapeHtml(message)),
    ),
  )
  const head = element(
    'tr',
    {},
    element('th', {}, 'Kind'),
    element('th', { class: 'number' }, 'Episodes'),
    element('th', { class: 'number' }, 'Share'),
    element('th', {}, 'For example'),
  )
  return section(
    'Failures',
    card(
      counts.failed === 0 ? 'None' : `${formatCount(counts.failed)} failed`,
      'A failure is the machinery’s fault or the world’s. It is no zero: no figure above has it in.',
      rows.length > 0 ? element('div', { class: 'scroll' }, element('table', {}, head, ...rows)) : null,
      'No episode failed.',
      'wide',
    ),
  )
}

/** A heading over cards, two to a row. */
export function section(title: string, ...cards: readonly string[]): string {
  return element('section', {}, element('h2', {}, title), element('div', { class: 'grid' }, ...cards))
}

/** A titled box; without `content` it says why it is empty. */
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
