import type { Summary } from '@episodic/report/fold/summary'
import { isShaped } from '@episodic/report/notes/run-notes'
import { formatCount, formatInterval, formatNumber, NOTHING } from '@episodic/report/text/format'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { IntervalBar } from '../parts/interval-bar.tsx'
import { Key } from '../parts/key.tsx'
import { plain } from '../parts/plain-text.tsx'
import { RewardByStepPlot } from '../parts/plots/reward-plots.tsx'
import { extentOf } from '../parts/plots/scale.ts'

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
          <TermsTable
            terms={rewards.byTerm}
            shaping={shaped && total && unshaped ? total.mean.mean - unshaped.mean.mean : null}
          />
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

interface TermsTableProps {
  readonly terms: Summary['rewards']['byTerm']
  readonly shaping: number | null
}

function TermsTable({ terms, shaping }: TermsTableProps) {
  const rows = [
    ...terms.toSorted((a, b) => Math.abs(b.mean) - Math.abs(a.mean)),
    ...(shaping === null ? [] : [{ name: 'shaping', mean: shaping, steps: null }]),
  ]
  const [from, to] = extentOf(
    rows.map(({ mean }) => mean),
    { zero: true },
  )
  return (
    <FiguresTable
      head={['Term', '', 'Mean of an episode', 'Steps in which it is not 0']}
      texts={2}
      rows={rows.map(({ name, mean, steps }) => [
        plain(name),
        <IntervalBar value={mean} low={Math.min(0, mean)} high={Math.max(0, mean)} from={from} to={to} />,
        formatNumber(mean),
        steps === null ? NOTHING : formatCount(steps),
      ])}
    />
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
