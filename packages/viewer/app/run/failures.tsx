import type { Summary } from '@episodic/report/fold/summary'
import { formatRetried } from '@episodic/report/notes/run-notes'
import { formatCount, formatPercent } from '@episodic/report/text/format'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { code, plain } from '../parts/plain-text.tsx'
import { formatRoute } from '../route/route.ts'

interface FailuresProps {
  readonly summary: Summary
  /** Its id, for links to the episodes. */
  readonly run: string
}

export function Failures({ summary: { failures, counts, retried }, run }: FailuresProps) {
  const sealed = counts.finished + counts.failed
  return (
    <Section title="Failures">
      <Card
        title={counts.failed === 0 ? 'None' : `${formatCount(counts.failed)} failed`}
        caption={`A failure is an error of the infrastructure, the world or the code of a policy. It does not count as zero: no other figure includes it. What a player does is no failure: see the ends.${retried ? ` Played again: ${formatRetried(retried)}.` : ''}`}
        empty="No episode failed."
        wide
      >
        {failures.length > 0 && (
          <FiguresTable
            head={['Kind', 'Example', 'Episodes', 'Share']}
            texts={2}
            rows={failures.map(({ name, count, message }) => [
              <a href={formatRoute({ screen: 'episodes', run, query: `failed:${quoted(name)}`, sort: '' })}>
                {code(name)}
              </a>,
              <span class="wrap small">{plain(message)}</span>,
              formatCount(count),
              formatPercent(count / sealed),
            ])}
          />
        )}
      </Card>
    </Section>
  )
}

function quoted(word: string): string {
  return /^[\w.-]+$/.test(word) ? word : JSON.stringify(word)
}
