import type { Summary } from '@episodic/report'
import {
  formatCost,
  formatCount,
  formatDuration,
  formatInterval,
  formatIntervals,
  formatKnownCost,
  formatNumber,
  formatPercent,
  formatRetried,
  formatRules,
  formatShareInterval,
  formatWaiting,
  NOTHING,
  noteFailures,
  noteGuarantees,
  noteInterval,
  noteMissingRewards,
  noteUnknownTools,
  noteVoids,
  plural,
  shortBounds,
  shortVoids,
  totalTokens,
  voidsOf,
} from '@episodic/report'
import { formatTokens } from '../parts/amounts.ts'
import { type Figure, FigureStrip } from '../parts/figure-strip.tsx'

export function Headline({ summary }: { readonly summary: Summary }) {
  const alarms = [noteFailures(summary), noteUnknownTools(summary), noteMissingRewards(summary)].filter(
    (notice) => notice !== null,
  )
  const { counts, success } = summary
  const notes = [
    counts.finished > 0 ? `Success: ${formatRules(success.rules)}.` : '',
    ...noteVoids(voidsOf(summary)),
    formatIntervals(success.overall),
    ...noteGuarantees(summary),
  ]
  return (
    <section aria-label="Headline figures">
      {alarms.map((notice) => (
        <p key={notice} class="callout" role="alert">
          {notice}
        </p>
      ))}
      <FigureStrip figures={[...scoresOf(summary), ...spentOf(summary)].filter((figure) => figure !== null)} />
      <p class="caption">{notes.filter(Boolean).join(' ')}</p>
    </section>
  )
}

function scoresOf(summary: Summary): (Figure | null)[] {
  const { success, returns, counts, branch, retried } = summary
  const pass = success.passAtK.at(-1)
  const unshaped = returns.unshaped?.mean
  const hat = success.passHatK.at(-1)
  return [
    {
      name: 'Success',
      value: formatPercent(success.overall.rate),
      notes: [
        noteInterval(success.overall, formatShareInterval),
        counts.finished > 0 ? 'of episodes' : '',
        ...shortVoids(voidsOf(summary)),
      ],
    },
    {
      name: 'Return, unshaped',
      value: formatNumber(unshaped?.mean ?? null),
      notes: [unshaped ? noteInterval(unshaped, formatInterval) : 'no finished episode'],
    },
    success.firstTry && {
      name: 'Success, first tries',
      value: formatPercent(success.firstTry.rate),
      notes: [
        noteInterval(success.firstTry, formatShareInterval),
        shortBounds(success.firstTry),
        retried ? `played again: ${formatRetried(retried)}` : '',
      ],
    },
    pass && pass.k > 1
      ? {
          name: `pass@${pass.k}`,
          value: formatPercent(pass.mean),
          notes: [
            noteInterval(pass, formatShareInterval),
            ...shortVoids({ failed: counts.failed, bounds: pass.bounds }),
            hat ? `all ${hat.k} (pass^${hat.k}): ${formatPercent(hat.mean)}` : '',
            hat ? noteInterval(hat, formatShareInterval) : '',
          ],
        }
      : null,
    branch?.best.return
      ? {
          name: `Best of ${branch.leaves}`,
          value: formatNumber(branch.best.return.mean),
          notes: [noteInterval(branch.best.return, formatInterval)],
        }
      : null,
    {
      name: 'Steps to success',
      value: success.steps ? formatNumber(success.steps.median).replace(/\.0+$/, '') : NOTHING,
      notes: [
        success.steps
          ? `median; quartiles ${success.steps.lowerQuartile} to ${success.steps.upperQuartile}`
          : 'no success',
      ],
    },
  ]
}

function spentOf({ tokens, time, counts }: Summary): (Figure | null)[] {
  return [
    tokens && {
      name: 'Tokens',
      value: formatTokens(totalTokens(tokens)),
      notes: [
        `${formatTokens(tokens.completion)} written, ${formatCount(tokens.requests)} requests`,
        ...(tokens.counted === undefined ? [] : [`counted for ${formatCount(tokens.counted)} of them`]),
        tokens.traced?.drifted ? `${formatCount(tokens.traced.drifted)} answers drifted` : '',
      ],
    },
    tokens && (tokens.cost !== null || tokens.unpriced)
      ? {
          name: 'Cost',
          value: formatKnownCost(tokens),
          notes: [
            tokens.unpriced
              ? `of ${plural(tokens.unpriced.requests, 'request')} not known`
              : `${formatCost((tokens.cost ?? 0) / tokens.episodes)} per episode`,
          ],
        }
      : null,
    time.step
      ? {
          name: 'World step',
          value: formatDuration(time.step.median),
          notes: [`median; p99 ${formatDuration(time.step.p99)}`],
        }
      : null,
    time.model
      ? {
          name: 'Model answer',
          value: formatDuration(time.model.median),
          notes: [`median; p99 ${formatDuration(time.model.p99)}`],
        }
      : null,
    time.waited && time.waited.requests > 0
      ? {
          name: 'Waited for model',
          value: formatDuration(time.waited.milliseconds),
          notes: [formatWaiting(time.waited)],
        }
      : null,
    {
      name: 'Episodes per second',
      value: time.episodesPerSecond === null ? NOTHING : formatNumber(time.episodesPerSecond),
      notes: [`${formatCount(counts.finished + counts.failed)} in ${formatDuration(time.milliseconds)}`],
    },
  ]
}
