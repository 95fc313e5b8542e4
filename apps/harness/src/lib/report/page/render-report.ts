import type { Json } from '@episodic/protocol'
import type { ReportedRun, Summary } from '@episodic/report'
import {
  describeRules,
  formatCount,
  listPlayers,
  plural,
  SAMPLE_SIZES,
  type SampledEpisode,
  scriptJson,
} from '@episodic/report'
import { element, escapeHtml } from '../plots/svg.ts'
import { renderBranches } from './branch-section.ts'
import { renderAccount, renderHeadline } from './headline.ts'
import { renderHtmlPage } from './html-page.ts'
import { PAGE_SCRIPT } from './page-script.ts'
import { PAGE_STYLE } from './page-style.ts'
import { card, renderFailures, renderRewards, renderScores, renderSeats, renderTimes, section } from './sections.ts'

/**
 * Renders a run as a self-contained HTML page of at most 10 MiB. It makes no requests; its policy forbids them.
 *
 * Returns the same bytes for the same summary, run and episodes. All output of worlds and policies is escaped.
 */
export function renderReport(summary: Summary, run: ReportedRun, episodes: readonly SampledEpisode[]): string {
  const title = `${run.name} · Episodic run report`
  const body = element(
    'main',
    {},
    renderTitle(summary, run),
    renderHeadline(summary),
    renderAccount(summary),
    renderSeats(summary),
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

function renderTitle(summary: Summary, run: ReportedRun): string {
  const { environments, counts } = summary
  const players = listPlayers(summary)
  const played = [
    environments.join(', '),
    players.length > 0 ? `played by ${players.join(', ')}` : '',
    `${plural(counts.scheduled, 'episode')} of ${plural(counts.tasks, 'task')}`,
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
      ? `All ${plural(sealed, 'sealed episode')}.`
      : `${formatCount(episodes.length)} of ${formatCount(sealed)} sealed episodes: ${drawn} sampled by the hash of task and attempt, the ${best} best and ${worst} worst by unshaped return, and up to ${failed} failed ones.`
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
      element('p', { class: 'empty' }, 'Browsing episodes needs JavaScript. The figures do not.'),
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
      'Settings of the run',
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
    `Success is ${describeRules(success.rules)}. A failed episode has no score.`,
    'Intervals are 95 %, with the attempts of one task as one cluster, because they are not independent of each other. Those of means use cluster-robust standard errors (Liang & Zeger 1986; Miller 2024) and Student’s t with one degree of freedom less than tasks. Those of shares are Wilson’s (1927) at the effective sample size (Korn & Graubard 1998), which with one attempt per task is the number of episodes. pass@k is the unbiased estimate of Chen et al. (2021), averaged over tasks. There is no interval for a single task, nor for a mean on which all tasks agree.',
    'Unshaped return is the weighted sum of the reward terms. Shaped return adds γΦ(s′) − Φ(s) at each step, which does not change the optimal policy (Ng, Harada & Russell 1999).',
    'All figures are a fold over sealed episodes: neither their order nor repeated lines change a byte of this page.',
    ...(branch
      ? [
          'Each rollout was forked: its leaves share steps, and the figures of steps count a shared step once for each leaf. A line that ended before it could branch counts for all of its leaves. The leaves of a rollout are not independent attempts, so pass@k has only k = 1.',
          'The value V̂ of a state is a Monte Carlo estimate (Sutton & Barto 2018, section 5.1): the mean of the discounted, unshaped return from there on, over lines with independent random draws in world and policy. It is the value of the full state under this policy, private part included. With few lines, the interval by Student’s t is only as good as a normal approximation.',
        ]
      : []),
    ...(counts.conflicts > 0
      ? [
          `${plural(counts.conflicts, 'sealed line')} conflicted with another line of the same episode. One line per episode counts; rewards by step and by term and step latencies include all of them.`,
        ]
      : []),
  ]
  return section(
    'Methods',
    element('div', { class: 'card wide notes' }, ...notes.map((note) => element('p', {}, escapeHtml(note)))),
  )
}
