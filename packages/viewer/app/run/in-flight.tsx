import type { EpisodeInFlight } from '@episodic/report'
import { formatCount, NOTHING } from '@episodic/report'
import { Age } from '../parts/age.tsx'
import { formatTokens } from '../parts/amounts.ts'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { PlainText } from '../parts/plain-text.tsx'

/** The episodes that are being played, the oldest first: one that hangs stays at the top. Nothing if there is none. */
export function InFlight({ inFlight }: { readonly inFlight: readonly EpisodeInFlight[] }) {
  if (inFlight.length === 0) return null
  const oldestFirst = inFlight.toSorted((a, b) => a.since - b.since)
  return (
    <Section title="In flight">
      <Card title={`${formatCount(inFlight.length)} in flight`} caption="They can be opened once they are sealed." wide>
        <FiguresTable
          head={['Task', 'Last tool', 'Attempt', 'Steps', 'Tokens', 'Started']}
          texts={2}
          rows={oldestFirst.map(({ task, attempt, steps, tool, tokens, since }) => [
            <code key="task">{task.slice(0, 12)}</code>,
            tool === null ? NOTHING : <PlainText text={tool} />,
            formatCount(attempt),
            formatCount(steps),
            formatTokens(tokens),
            <Age key="since" since={new Date(since).toISOString()} />,
          ])}
        />
      </Card>
    </Section>
  )
}
