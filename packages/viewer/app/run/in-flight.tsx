import { formatCount, formatDuration } from '@episodic/report/text/format'
import type { EpisodeInFlight } from '@episodic/report/view/run-entry'
import { formatTokens } from '../parts/amounts.ts'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { code, plain } from '../parts/plain-text.tsx'
import { episodeHref } from '../route/route.ts'

/** The episodes that are being played, the oldest first: one that hangs stays at the top. Nothing if there is none. */
export function InFlight({ run, inFlight }: { readonly run: string; readonly inFlight: readonly EpisodeInFlight[] }) {
  if (inFlight.length === 0) return null
  const oldestFirst = inFlight.toSorted((a, b) => b.since - a.since)
  return (
    <Section title="In flight">
      <Card
        title={`${formatCount(inFlight.length)} in flight`}
        caption="The last call and answer of each, the oldest first. Open one to follow its steps."
        wide
      >
        <FiguresTable
          head={['Task', 'Last call and answer', 'Attempt', 'Steps', 'Tokens', 'Since']}
          texts={2}
          rows={oldestFirst.map(({ task, attempt, steps, call, answer, tokens, since }) => [
            <a key="task" href={episodeHref(run, task, attempt)}>
              <code>{task.slice(0, 12)}</code>
            </a>,
            <>
              {code(call ?? '')}
              <div class="wrap small">{plain(answer ?? '')}</div>
            </>,
            formatCount(attempt),
            formatCount(steps),
            formatTokens(tokens),
            formatDuration(since),
          ])}
        />
      </Card>
    </Section>
  )
}
