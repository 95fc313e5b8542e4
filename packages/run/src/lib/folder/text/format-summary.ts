import { anchorRows } from '@episodic/report/anchors/anchors'
import { noteUnearned } from '@episodic/report/cheating/unearned'
import { formatRules } from '@episodic/report/fold/scored-outcome'
import type { Distribution, Summary } from '@episodic/report/fold/summary'
import { totalTokens } from '@episodic/report/fold/token-fold'
import { formatNoise } from '@episodic/report/noise/noise-note'
import {
  formatIntervals,
  formatLatency,
  formatRefused,
  formatRetried,
  formatStepParts,
  formatTreeValue,
  formatWaiting,
  isShaped,
  listPlayers,
  noteFailures,
  noteGuarantees,
  noteInterval,
  noteMissingRewards,
  noteUnknownTools,
} from '@episodic/report/notes/run-notes'
import { shortBounds, shortVoids } from '@episodic/report/notes/void-notes'
import {
  cleanText,
  formatCost,
  formatCount,
  formatDuration,
  formatInterval,
  formatKnownCost,
  formatNumber,
  formatPercent,
  formatShareInterval,
  NOTHING,
  noteUnpriced,
  wrapText,
} from '@episodic/report/text/format'
import { createColors } from 'picocolors'
import { formatCounts } from '../../base/format-counts.ts'

type Interval = Parameters<typeof noteInterval>[0]

const NAME_WIDTH = 18
const VALUE_WIDTH = 10
const LABEL_WIDTH = 24
const MESSAGE_WIDTH = 90
const MOST_ROWS = 6

/**
 * Formats a summary for a terminal, with a line break at the end.
 *
 * @param color - whether to use escape sequences.
 */
export function formatSummary(summary: Summary, { color }: { readonly color: boolean }): string {
  const { bold, dim, red, yellow } = createColors(color)
  const { counts, success, time, tokens, ends, failures, branch, retried } = summary
  const line = (name: string, value: string, note = '') =>
    `  ${dim(name.padEnd(NAME_WIDTH))}${bold(value.padStart(VALUE_WIDTH))}${note && `   ${dim(note)}`}`.trimEnd()
  const rateLine = (name: string, value: number | null, figure: Interval, bounds: string) =>
    line(name, formatPercent(value), [noteInterval(figure, formatShareInterval), bounds].filter(Boolean).join('   '))
  const meanLine = (name: string, mean: Interval & { readonly mean: number }) =>
    line(name, formatNumber(mean.mean), noteInterval(mean, formatInterval))
  const bestRate = ({ best: { success, bounds }, failed }: NonNullable<typeof branch>) =>
    rateLine('  success', success.rate, success, shortVoids({ failed, bounds }).join())
  const passes = [['pass@', success.passAtK.at(-1)] as const, ['pass^', success.passHatK.at(-1)] as const]
  const failing = [noteFailures(summary), noteUnknownTools(summary)].filter((notice) => notice !== null)
  const unrewarded = noteMissingRewards(summary)
  const lines = [
    `${bold(cleanText(summary.run))}  ${dim(cleanText([...summary.environments, ...listPlayers(summary), ...(summary.transport ? [summary.transport] : [])].join(' · ')))}`,
    '',
    `  ${formatCounts(counts, color)}`,
    '',
    ...failing.flatMap((notice) => [`  ${bold(red(cleanText(notice)))}`, '']),
    ...(unrewarded === null ? [] : [`  ${bold(yellow(unrewarded))}`, '']),
    line(
      'success',
      formatPercent(success.overall.rate),
      counts.finished > 0 ? noteInterval(success.overall, formatShareInterval) : '',
    ),
    counts.finished > 0 &&
      `  ${' '.repeat(NAME_WIDTH + VALUE_WIDTH + 3)}${dim(`of episodes; ${formatRules(success.rules)}`)}`,
    success.bounds &&
      line(
        '  with failed',
        '',
        `${formatShareInterval(success.bounds)}: if the ${formatCount(counts.failed)} that failed were all lost, or all won`,
      ),
    success.firstTry &&
      rateLine('  first tries', success.firstTry.rate, success.firstTry, shortBounds(success.firstTry)),
    ...(summary.verdicts ?? []).map((verdict) =>
      rateLine(`  ${cleanText(verdict.name)}`, verdict.rate, verdict, shortBounds(verdict)),
    ),
    ...noteUnearned(success.unearned).map((note) => `  ${bold(yellow(note))}`),
    success.noise && line('  noise floor', ...formatNoise(success.noise)),
    ...anchorRows(success.anchors).map(([name, value, note]) => line(`  ${name}`, value, cleanText(note))),
    retried && line('played again', formatCount(retried.episodes), formatRetried(retried)),
    ...passes.map(([name, pass]) => {
      if (!pass || pass.k <= 1) return null
      const voids = shortVoids({ failed: counts.failed, bounds: pass.bounds }).join()
      return rateLine(`${name}${pass.k}`, pass.mean, pass, voids)
    }),
    ...distinctReturns(summary).map(([name, { mean }]) => meanLine(name, mean)),
    ...(branch?.best.return ? [meanLine(`best of ${branch.leaves}`, branch.best.return), bestRate(branch)] : []),
    ...seatRows(summary).map(([name, value, note]) => line(name, value, note)),
    success.steps &&
      line(
        'steps to success',
        formatNumber(success.steps.mean.mean),
        `median ${formatNumber(success.steps.median).replace(/\.0+$/, '')}`,
      ),
    time.step && line('world step', formatDuration(time.step.median), formatLatency(time.step)),
    time.step &&
      time.stepParts &&
      line('  in the server', formatDuration(time.stepParts.server), formatStepParts(time.stepParts)),
    time.step &&
      time.stepsPerSecond &&
      line('time per step', formatDuration(1_000 / time.stepsPerSecond), formatShare(time)),
    time.model && line('model answer', formatDuration(time.model.median), formatLatency(time.model)),
    time.waited &&
      time.waited.requests > 0 &&
      line('waited for model', formatDuration(time.waited.milliseconds), formatWaiting(time.waited)),
    line(
      'episodes/s',
      formatNumber(time.episodesPerSecond),
      `${formatNumber(time.stepsPerSecond)} steps/s, ${formatDuration(time.milliseconds)} in total`,
    ),
    tokens &&
      line(
        'tokens',
        formatKnown(totalTokens(tokens)),
        `${formatTokens(tokens)}   ${formatCount(tokens.requests)} requests`,
      ),
    tokens?.traced && line('token drift', formatCount(tokens.traced.drifted), formatTraced(tokens.traced)),
    tokens &&
      (tokens.cost !== null || tokens.unpriced) &&
      line(
        'cost',
        formatKnownCost(tokens),
        noteUnpriced(tokens) ??
          `${formatCost((tokens.cost ?? 0) / tokens.episodes)} per episode, in the currency of the prices`,
      ),
    counts.refused > 0 && line('refused steps', formatCount(counts.refused), formatRefused(counts)),
    counts.finished > 0 && `  ${dim(formatIntervals(success.overall))}`,
    ...noteGuarantees(summary).map((note) => `  ${dim(note)}`),
    ...block(
      'value of a state',
      (branch?.trees ?? []).flatMap(({ task, rollout, points }) =>
        points
          .slice(0, 1)
          .map(
            ({ at, value }) =>
              `    ${`${cleanText(task).slice(0, 12)}, rollout ${rollout}, step ${at}`.padEnd(LABEL_WIDTH + 10)}${formatTreeValue(value)}`,
          ),
      ),
    ),
    ...block(
      'ends',
      [...ends.terminated, ...ends.truncated.map((end) => ({ ...end, name: `${end.name} (truncated)` }))].map(
        ({ name, count }) => `    ${cleanText(name).padEnd(LABEL_WIDTH)}${formatCount(count).padStart(7)}`,
      ),
    ),
    ...block(
      'failures',
      failures.map(({ name, count, message }) => {
        const [first, ...more] = wrapText(message, MESSAGE_WIDTH).map(dim)
        const indent = ' '.repeat(4 + LABEL_WIDTH + 7 + 3)
        return [
          `    ${red(cleanText(name).padEnd(LABEL_WIDTH))}${formatCount(count).padStart(7)}   ${first}`,
          ...more.map((line) => indent + line),
        ].join('\n')
      }),
    ),
    ...(counts.conflicts > 0
      ? [
          '',
          `  ${yellow(`${formatCount(counts.conflicts)} sealed lines conflict with another line of the same episode; one line per episode counts.`)}`,
        ]
      : []),
  ]
  return `${lines.filter((shown) => typeof shown === 'string').join('\n')}\n`

  function block(title: string, rows: readonly string[]): string[] {
    if (rows.length === 0) return []
    const shown = rows.slice(0, MOST_ROWS)
    const more = rows.length - shown.length
    return ['', `  ${dim(title)}`, ...shown, ...(more > 0 ? [dim(`    and ${more} more`)] : [])]
  }
}

function seatRows({ seats, counts: { failed } }: Summary): (readonly [name: string, value: string, note: string])[] {
  return (seats ?? []).map(({ name, focus, policies, return: earned, success, faults }) => [
    `  ${cleanText(name)}`,
    formatNumber(earned?.mean ?? null),
    [
      cleanText(policies.join(', ')),
      earned ? noteInterval(earned, formatInterval) : '',
      [`success ${formatPercent(success.rate)}`, shortBounds({ ...success, failed })].filter(Boolean).join(', '),
      faults > 0 ? `${formatCount(faults)} failed at this seat` : '',
      focus ? 'the other figures are of this seat' : '',
    ]
      .filter(Boolean)
      .join('   '),
  ])
}

/** The returns that differ. Without shaping and discounting, all three are equal. */
function distinctReturns(summary: Summary): [name: string, Distribution][] {
  const { unshaped, total, discounted } = summary.returns
  if (!unshaped || !total || !discounted) return []
  const shaped = isShaped(summary)
  const differ = JSON.stringify(total) !== JSON.stringify(discounted)
  return [
    [shaped ? 'return, unshaped' : 'return', unshaped],
    ...(shaped ? [['return, shaped', total] as [string, Distribution]] : []),
    ...(differ ? [['  discounted', discounted] as [string, Distribution]] : []),
  ]
}

/** Explains the time per step: of all steps in flight together, where a single one also waits for the others. */
function formatShare({ concurrency }: Summary['time']): string {
  const peak = concurrency?.peak ?? 1
  return peak > 1 ? `time of the run / steps; up to ${peak} episodes share that time` : 'time of the run / steps'
}

function formatKnown(count: number | null): string {
  return count === null ? NOTHING : formatCount(count)
}

function formatTraced({ requests }: NonNullable<NonNullable<Summary['tokens']>['traced']>): string {
  return `of ${formatCount(requests)} answers with token ids go on with other tokens than were sampled before them`
}

function formatTokens({ prompt, completion, requests, counted = requests }: NonNullable<Summary['tokens']>): string {
  if (prompt === 0) return 'not counted by the server'
  const known = `${formatCount(prompt)} prompt   ${formatCount(completion)} completion`
  return counted === requests ? known : `${known}   counted by the server for ${formatCount(counted)} of`
}
