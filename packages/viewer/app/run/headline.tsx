import { anchorRows, noteUnmeasured } from '@episodic/report/anchors/anchors'
import { formatRules } from '@episodic/report/fold/scored-outcome'
import type { Summary } from '@episodic/report/fold/summary'
import { totalTokens } from '@episodic/report/fold/token-fold'
import { formatNoise } from '@episodic/report/noise/noise-note'
import {
  formatIntervals,
  formatRetried,
  formatWaiting,
  noteFailures,
  noteGuarantees,
  noteInterval,
  noteMissingRewards,
  noteUnknownTools,
} from '@episodic/report/notes/run-notes'
import { noteVoids, shortBounds, shortVoids, voidsOf } from '@episodic/report/notes/void-notes'
import {
  formatCost,
  formatCount,
  formatDuration,
  formatInterval,
  formatKnownCost,
  formatNumber,
  formatPercent,
  formatShareInterval,
  NOTHING,
  plural,
} from '@episodic/report/text/format'
import { formatTokens } from '../parts/amounts.ts'
import { type Figure, FigureStrip } from '../parts/figure-strip.tsx'

export function Headline({ summary, report }: { readonly summary: Summary; readonly report?: string | undefined }) {
  const alarms = [noteFailures(summary), noteUnknownTools(summary), noteMissingRewards(summary)].filter(
    (notice) => notice !== null,
  )
  const { counts, success } = summary
  const notes = [
    counts.finished > 0 ? `Success: ${formatRules(success.rules)}.` : '',
    ...noteVoids(voidsOf(summary)),
    formatIntervals(success.overall),
    ...noteGuarantees(summary),
    report && !success.anchors && noteUnmeasured(`${report} --anchors.`),
  ]
  return (
    <section aria-label="Headline figures">
      {alarms.map((notice) => (
        <p key={notice} class="callout" role="alert">
          {notice}
        </p>
      ))}
      <FigureStrip figures={[...scoresOf(summary), ...spentOf(summary)].filter((one) => one !== null)} />
      <p class="caption">{notes.filter(Boolean).join(' ')}</p>
    </section>
  )
}

function scoresOf(summary: Summary): (Figure | null)[] {
  const { success, returns, counts, branch, retried } = summary
  const { overall, firstTry, steps } = success
  const pass = success.passAtK.at(-1)
  const hat = success.passHatK.at(-1)
  const best = branch?.best.return
  return [
    figure(
      'Success',
      formatPercent(overall.rate),
      noteInterval(overall, formatShareInterval),
      counts.finished > 0 && 'of episodes',
      ...shortVoids(voidsOf(summary)),
    ),
    ...(summary.verdicts ?? []).map((one) =>
      figure(one.name, formatPercent(one.rate), noteInterval(one, formatShareInterval), shortBounds(one)),
    ),
    figure(
      'Return, unshaped',
      formatNumber(returns.unshaped?.mean.mean ?? null),
      returns.unshaped ? noteInterval(returns.unshaped.mean, formatInterval) : 'no finished episode',
    ),
    firstTry &&
      figure(
        'Success, first tries',
        formatPercent(firstTry.rate),
        noteInterval(firstTry, formatShareInterval),
        shortBounds(firstTry),
        retried && `played again: ${formatRetried(retried)}`,
      ),
    pass && pass.k > 1
      ? figure(
          `pass@${pass.k}`,
          formatPercent(pass.mean),
          noteInterval(pass, formatShareInterval),
          ...shortVoids({ failed: counts.failed, bounds: pass.bounds }),
          hat && `all ${hat.k} (pass^${hat.k}): ${formatPercent(hat.mean)}`,
          hat && noteInterval(hat, formatShareInterval),
        )
      : null,
    success.noise && figure('Noise floor', ...formatNoise(success.noise)),
    ...anchorRows(success.anchors).map((row) => figure(...row)),
    best ? figure(`Best of ${branch.leaves}`, formatNumber(best.mean), noteInterval(best, formatInterval)) : null,
    figure(
      'Steps to success',
      steps ? formatNumber(steps.median).replace(/\.0+$/, '') : NOTHING,
      steps ? `median; quartiles ${steps.lowerQuartile} to ${steps.upperQuartile}` : 'no success',
    ),
  ]
}

function spentOf({ tokens, time, counts }: Summary): (Figure | null)[] {
  const { step, model, waited, episodesPerSecond, milliseconds } = time
  return [
    tokens &&
      figure(
        'Tokens',
        formatTokens(totalTokens(tokens)),
        `${formatTokens(tokens.completion)} written, ${formatCount(tokens.requests)} requests`,
        tokens.counted !== undefined && `counted for ${formatCount(tokens.counted)} of them`,
        tokens.traced?.drifted && `${formatCount(tokens.traced.drifted)} answers drifted`,
      ),
    tokens && (tokens.cost !== null || tokens.unpriced)
      ? figure(
          'Cost',
          formatKnownCost(tokens),
          tokens.unpriced
            ? `of ${plural(tokens.unpriced.requests, 'request')} not known`
            : `${formatCost((tokens.cost ?? 0) / tokens.episodes)} per episode`,
        )
      : null,
    step && figure('World step', formatDuration(step.median), `median; p99 ${formatDuration(step.p99)}`),
    model && figure('Model answer', formatDuration(model.median), `median; p99 ${formatDuration(model.p99)}`),
    waited && waited.requests > 0
      ? figure('Waited for model', formatDuration(waited.milliseconds), formatWaiting(waited))
      : null,
    figure(
      'Episodes per second',
      episodesPerSecond === null ? NOTHING : formatNumber(episodesPerSecond),
      `${formatCount(counts.finished + counts.failed)} in ${formatDuration(milliseconds)}`,
    ),
  ]
}

function figure(
  name: string,
  value: string,
  ...notes: readonly (string | number | false | null | undefined)[]
): Figure {
  return { name, value, notes: notes.filter((note) => typeof note === 'string') }
}
