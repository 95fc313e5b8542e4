import type { Summary } from '@episodic/report/fold/summary'
import { isShaped } from '@episodic/report/notes/run-notes'
import { formatInterval, formatNumber } from '@episodic/report/text/format'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { Key } from '../parts/key.tsx'
import { MOST_TERMS, RewardByStepPlot, RewardByTermPlot } from '../parts/plots/reward-plots.tsx'

export function Rewards({ summary }: { readonly summary: Summary }) {
  const { rewards, returns } = summary
  const { total, unshaped } = returns
  const shaped = isShaped(summary)
  return (
    <Section title="Reward">
      <Card
        title="Reward by step"
        caption="Mean over the episodes that have the step."
        empty="No finished episode has a step."
      >
        {rewards.byStep.length > 0 && (
          <>
            <RewardByStepPlot steps={rewards.byStep} shaped={shaped} />
            <ul class="legend flow">
              <Key of="unshaped">unshaped</Key>
              {shaped ? <Key of="shaped">shaped, as a learner receives it</Key> : <li>Shaping was off.</li>}
              <Key of="reach">share of episodes with that many steps</Key>
            </ul>
          </>
        )}
      </Card>
      <Card
        title="Reward by term"
        caption="Mean sum of each raw term over an episode, before weights."
        empty="No finished episode has a reward term."
      >
        {rewards.byTerm.length > 0 && (
          <>
            <RewardByTermPlot
              terms={rewards.byTerm}
              shaping={shaped && total && unshaped ? total.mean.mean - unshaped.mean.mean : null}
            />
            {rewards.byTerm.length > MOST_TERMS && (
              <p class="caption">
                The {MOST_TERMS} largest of {rewards.byTerm.length} terms; the table has all.
              </p>
            )}
          </>
        )}
      </Card>
      <Card
        title="Return statistics"
        caption="Over finished episodes. Discounted is the discounted sum of the shaped rewards."
        empty="No episode finished."
        wide
      >
        {unshaped && <ReturnsTable returns={returns} shaped={shaped} />}
      </Card>
    </Section>
  )
}

const HEAD = ['Return', 'Mean', '95 % interval', 'Minimum', 'Lower quartile', 'Median', 'Upper quartile', 'Maximum']

function ReturnsTable({ returns, shaped }: { readonly returns: Summary['returns']; readonly shaped: boolean }) {
  const names = [
    ['Unshaped', returns.unshaped],
    ['Shaped', shaped ? returns.total : null],
    ['Discounted', returns.discounted],
  ] as const
  const rows = names.flatMap(([name, distribution]) => {
    if (!distribution) return []
    const { mean, least, lowerQuartile, median, upperQuartile, most } = distribution
    const quantiles = [least, lowerQuartile, median, upperQuartile, most].map(formatNumber)
    return [[name, formatNumber(mean.mean), formatInterval(mean), ...quantiles]]
  })
  return <FiguresTable head={HEAD} rows={rows} />
}
