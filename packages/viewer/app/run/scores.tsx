import type { Summary } from '@episodic/report/fold/summary'
import { shortBounds } from '@episodic/report/notes/void-notes'
import { formatCount, formatPercent, formatShareInterval } from '@episodic/report/text/format'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { Meter } from '../parts/meter.tsx'
import { plain } from '../parts/plain-text.tsx'
import { PassPlot, ReturnsPlot, StepsPlot } from '../parts/plots/score-plots.tsx'

export function Scores({ summary: { returns, success, ends, counts } }: { readonly summary: Summary }) {
  const groups = [
    ...success.bySplit.map((row) => ({ ...row, kind: 'split' })),
    ...success.byTag.map((row) => ({ ...row, kind: 'tag' })),
    ...success.byDifficulty.map((row) => ({ ...row, name: `${row.from} to ${row.to}`, kind: 'difficulty' })),
  ]
  return (
    <Section title="Score">
      <Card
        title="Return"
        caption="Unshaped return of an episode. The band is the 95 % interval of the mean."
        empty="No episode finished, so there is no return."
      >
        {returns.unshaped && <ReturnsPlot distribution={returns.unshaped} />}
      </Card>
      <Card
        title="pass@k"
        caption="Probability that at least one of k attempts succeeds, averaged over tasks."
        empty="No episode finished."
      >
        {success.passAtK.length > 0 && <PassPlot name="pass@" estimates={success.passAtK} failed={counts.failed} />}
      </Card>
      <Card
        title="pass^k"
        caption="Probability that all of k attempts succeed, averaged over tasks."
        empty="No episode finished."
      >
        {success.passHatK.length > 0 && <PassPlot name="pass^" estimates={success.passHatK} failed={counts.failed} />}
      </Card>
      <Card
        title="Steps to success"
        caption="Number of steps of the successful episodes."
        empty="No episode succeeded."
      >
        {success.steps && <StepsPlot distribution={success.steps} />}
      </Card>
      <Card
        title="Episode ends"
        caption={`${formatCount(counts.finished)} finished episodes. Failed ones are listed separately.`}
        empty="No episode finished."
      >
        {counts.finished > 0 && <EndsTable ends={ends} finished={counts.finished} />}
      </Card>
      <Card
        title="Success by split, tag and difficulty"
        caption="An episode counts under each of its tags. Difficulty is from 0, the easiest, to 1, in tenths."
        empty="No episode ended."
        wide
      >
        {groups.length > 0 && <GroupsTable groups={groups} />}
      </Card>
    </Section>
  )
}

function EndsTable({ ends, finished }: { readonly ends: Summary['ends']; readonly finished: number }) {
  const rows = [
    ...ends.terminated.map((end) => ({ ...end, kind: 'terminated', color: 'fell-short' })),
    ...ends.truncated.map((end) => ({ ...end, kind: 'truncated', color: 'truncated' })),
  ]
  return (
    <FiguresTable
      head={['End', '', 'Episodes', 'Share']}
      texts={2}
      rows={rows.map(({ name, count, kind, color }) => [
        <>
          {plain(name)} <span class="badge">{kind}</span>
        </>,
        <Meter share={count / finished} kind={color} />,
        formatCount(count),
        formatPercent(count / finished),
      ])}
    />
  )
}

function GroupsTable({
  groups,
}: {
  readonly groups: readonly (Summary['success']['byTag'][number] & { readonly kind: string })[]
}) {
  const hasFailed = groups.some(({ failed }) => failed > 0)
  return (
    <FiguresTable
      head={['Group', 'Share', 'Success', '95 % interval', 'Episodes', ...(hasFailed ? ['With failed'] : [])]}
      texts={2}
      rows={groups.map(({ name, kind, rate, low, high, successes, count, failed }) => [
        <>
          {plain(name)} <span class="badge">{kind}</span>
        </>,
        <Meter share={rate ?? 0} kind="good" />,
        formatPercent(rate),
        formatShareInterval({ low, high }),
        formatCount(count),
        ...(hasFailed ? [shortBounds({ successes, count, failed })] : []),
      ])}
    />
  )
}
