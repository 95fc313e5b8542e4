import type { EpisodeInFlight } from '@episodic/report'
import { formatCount } from '@episodic/report'
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
      <Card
        title={`${formatCount(inFlight.length)} in flight`}
        caption="The last call and answer of each, the oldest first. Whole episodes can be opened once they are sealed."
        wide
      >
        <FiguresTable
          head={['Task', 'Last call', 'Last answer', 'Attempt', 'Steps', 'Tokens', 'Started']}
          texts={3}
          rows={oldestFirst.map(({ task, attempt, steps, call, answer, tokens, since }) => [
            <code key="task">{task.slice(0, 12)}</code>,
            <PlainText text={call ?? ''} />,
            <PlainText text={answer ?? ''} />,
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
