import type { Json } from '@episodic/protocol'
import { SAMPLE_SIZES, type SampledEpisode } from '../fold/episode-sample.ts'
import { describeRules } from '../fold/scored-outcome.ts'
import { scriptJson } from '../fold/shown-episode.ts'
import type { ReportedRun, Summary } from '../fold/summary.ts'
import { formatCount } from '../plots/format.ts'
import { element, escapeHtml } from '../plots/svg.ts'
import { renderBranches } from './branch-section.ts'
import { renderAccount, renderHeadline } from './headline.ts'
import { renderHtmlPage } from './html-page.ts'
import { PAGE_SCRIPT } from './page-script.ts'
import { PAGE_STYLE } from './page-style.ts'
import { card, renderFailures, renderRewards, renderScores, renderTimes, section } from './sections.ts'

/**
 * Renders a run as one HTML page that needs nothing else: no request leaves it, and its policy forbids any.
 *
 * The same summary, run and episodes give the same bytes. What worlds and policies said is text to the page, in markup
 * and in script alike; at most 10 MiB.
 */
export function renderReport(summary: Summary, run: ReportedRun, episodes: readonly SampledEpisode[]): string {
  const title = `${run.name} · Episodic run report`
  const body = element(
    'main',
    {},
    renderTitle(summary, run),
    renderHeadline(summary),
    renderAccount(summary),
    renderScores(summary),
    renderBranches(summary),
    renderRewards(summary),
    renderTimes(summary),
    renderFailures(summary),
    renderEpisodes(summary, episodes),
    renderConfiguration(run),
    renderNotes(summary),
  )
  const data = `<script type="application/json" id="episodes">${scriptJson(episodes)}</script>`
  return renderHtmlPage({ title, style: PAGE_STYLE, body: body + data, script: PAGE_SCRIPT })
}

function renderTitle({ environments, policies, counts }: Summary, run: ReportedRun): string {
  const played = [
    environments.join(', '),
    policies.length > 0 ? `played by ${policies.join(', ')}` : '',
    `${count(counts.scheduled, 'episode')} of ${count(counts.tasks, 'task')}`,
  ]
  return element(
    'header',
    {},
    element('p', { class: 'kicker' }, 'Episodic run report'),
    element('h1', {}, escapeHtml(run.name)),
    element('p', { class: 'meta' }, escapeHtml(played.filter((part) => part !== '').join(' · '))),
  )
}

function renderEpisodes({ counts }: Summary, episodes: readonly SampledEpisode[]): string {
  const outcomes = [
    ['all', 'All'],
    ['succeeded', 'Succeeded'],
    ['fell-short', 'Terminated without success'],
    ['truncated', 'Truncated'],
    ['failed', 'Failed'],
  ] as const
  const chips = outcomes.map(([outcome, name]) => {
    const size = episodes.filter((episode) => outcome === 'all' || episode.outcome === outcome).length
    return element(
      'button',
      { type: 'button', 'data-outcome': outcome, 'aria-pressed': String(outcome === 'all') },
      `${name} ${formatCount(size)}`,
    )
  })
  const { drawn, best, worst, failed } = SAMPLE_SIZES
  const sealed = counts.finished + counts.failed
  const caption =
    episodes.length === sealed
      ? `All ${count(sealed, 'sealed episode')}.`
      : `${formatCount(episodes.length)} of ${formatCount(sealed)} sealed episodes: ${drawn} drawn by the hash of task and attempt, the ${best} best and ${worst} worst by unshaped return, and up to ${failed} that failed.`
  return element(
    'section',
    {},
    element('h2', {}, 'Episodes'),
    element('p', { class: 'caption' }, caption),
    element(
      'div',
      { class: 'chips' },
      ...chips,
      '<input type="search" id="search" placeholder="Task, prompt, tag or end" aria-label="Search the episodes">',
    ),
    element(
      'div',
      { class: 'browser' },
      element('div', { class: 'card list', id: 'list' }),
      element(
        'div',
        { class: 'card play', id: 'play', 'aria-live': 'polite' },
        element('p', { class: 'empty' }, 'No episode to show.'),
      ),
    ),
    element(
      'noscript',
      {},
      element('p', { class: 'empty' }, 'Browsing episodes needs JavaScript. All the figures do without.'),
    ),
  )
}

function renderConfiguration({ configuration }: ReportedRun): string {
  const rows = Object.entries(configuration).map(
    ([name, value]) => element('dt', {}, escapeHtml(name)) + element('dd', {}, escapeHtml(readable(value))),
  )
  return section(
    'Configuration',
    card(
      'What the run was asked to do',
      '',
      rows.length > 0 ? element('dl', { class: 'settings' }, ...rows) : null,
      'No configuration was recorded.',
      'wide',
    ),
  )
}

function readable(value: Json): string {
  if (typeof value === 'string') return value
  const short = JSON.stringify(value, null, 1).replace(/\n\s*/g, ' ')
  return short.length <= 100 ? short : JSON.stringify(value, null, 2)
}

function renderNotes({ counts, branch, success }: Summary): string {
  const notes = [
    `Success is ${describeRules(success.rules)}. A failed episode is not scored at all.`,
    'Intervals are 95 %, and the attempts of one task are one cluster: they are not independent of each other. Those of means are cluster-robust standard errors (Liang & Zeger 1986; Miller 2024) with Student’s t for the tasks less one. Those of shares are Wilson’s (1927) at the effective sample size (Korn & Graubard 1998), which with one attempt a task is Wilson’s alone. pass@k is the unbiased estimate of Chen et al. (2021), averaged over tasks. One task has no interval, and neither has a mean that every task agrees on.',
    'Unshaped return is the weighted sum of the reward terms. The shaped one adds γΦ(s′) − Φ(s) in each step, which leaves the best policy as it is (Ng, Harada & Russell 1999).',
    'All figures are a fold over sealed episodes. Neither their order nor a line that is there twice changes a byte of this page.',
    ...(branch
      ? [
          'Each rollout was forked: its leaves share their beginnings, and a shared step counts in the figures of steps once for each leaf. A line that was over before it could branch counts for all the leaves that it would have had. Leaves of one rollout are no independent attempts, so pass@k is told for k = 1 alone.',
          'The value V̂ of a state is a Monte Carlo estimate (Sutton & Barto 2018, section 5.1): the mean of the discounted, unshaped return from there on, over lines that have chance of their own in the world and in the policy. It is the value of the whole state under this policy, with what is hidden from the player; with few lines the interval, which is Student’s t, is only as good as a normal approximation.',
        ]
      : []),
    ...(counts.conflicts > 0
      ? [
          `${count(counts.conflicts, 'sealed line')} contradicted another line of the same episode. One line of each episode counts; rewards by step and by term and the times of steps include all of them.`,
        ]
      : []),
  ]
  return section(
    'How to read this',
    element('div', { class: 'card wide notes' }, ...notes.map((note) => element('p', {}, escapeHtml(note)))),
  )
}

function count(size: number, word: string): string {
  return `${formatCount(size)} ${word}${size === 1 ? '' : 's'}`
}
