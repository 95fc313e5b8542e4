import { shortBounds } from '@episodic/report/notes/void-notes'
import { formatQuery } from '@episodic/report/query/parse-query'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import { versionFigures } from '@episodic/report/rows/version-figures'
import {
  formatCount,
  formatInterval,
  formatNumber,
  formatPercent,
  formatShareInterval,
} from '@episodic/report/text/format'
import { useMemo } from 'preact/hooks'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { plain } from '../parts/plain-text.tsx'
import { formatRoute } from '../route/route.ts'

const MOST = 100

/** What each version of the weights earned; nothing for a run of fewer than two. */
export function Versions({ run, columns }: { readonly run: string; readonly columns: EpisodeColumns }) {
  const versions = useMemo(() => versionFigures(columns), [columns])
  if (versions.length < 2) return null
  const hasFailed = versions.some(({ figures }) => figures.failed > 0)
  const omitted = Math.max(0, versions.length - MOST)
  return (
    <Section title="Policy versions">
      <Card
        title={`${formatCount(versions.length)} versions of the weights`}
        caption="An episode counts for the oldest version that wrote one of its answers. “Behind” is the number of updates from there to the newest version of the run, and “updated” the number of episodes in which newer weights wrote answers too."
        wide
      >
        <FiguresTable
          head={[
            ...['Version', 'Behind', 'Episodes', 'Updated', 'Success', '95 %', 'Return', '95 %'],
            ...(hasFailed ? ['With failed'] : []),
          ]}
          rows={versions
            .slice(omitted)
            .map(({ version, behind, updated, figures }) => [
              <a href={formatRoute({ screen: 'episodes', run, query: queryOf(version), sort: '' })}>
                {plain(version)}
              </a>,
              behind === null ? '' : formatCount(behind),
              formatCount(figures.finished + figures.failed),
              formatCount(updated),
              formatPercent(figures.success.rate),
              formatShareInterval(figures.success),
              formatNumber(figures.unshaped?.mean ?? null),
              figures.unshaped ? formatInterval(figures.unshaped) : '',
              ...(hasFailed ? [shortBounds({ ...figures.success, failed: figures.failed })] : []),
            ])}
        />
        {omitted > 0 && <p class="caption">And {formatCount(omitted)} older ones.</p>}
      </Card>
    </Section>
  )
}

function queryOf(version: string): string {
  return formatQuery([{ kind: 'field', field: 'version', operator: '=', values: [version], negated: false }])
}
