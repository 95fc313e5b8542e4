import type { Latency, Summary } from '@episodic/report/fold/summary'
import { totalTokens } from '@episodic/report/fold/token-fold'
import { formatCost, formatCount, formatDuration, formatNumber } from '@episodic/report/text/format'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { ConcurrencyPlot } from '../parts/plots/time-plots.tsx'

export function Times({ summary }: { readonly summary: Summary }) {
  const { time } = summary
  const spent = spentRows(summary)
  return (
    <Section title="Time and cost">
      <Card
        title="Time statistics"
        caption="A world step is from sending an action to receiving the answer, a model answer from sending a request to its end, without failed requests and waiting. Failed episodes are included. Percentiles are exact to 0.8 %."
      >
        <FiguresTable head={['Figure', 'Value']} rows={timeRows(summary)} />
      </Card>
      {spent.length > 0 && (
        <Card title="Language models" caption="Of all requests and tries, those of failed episodes included." wide>
          <FiguresTable head={['Figure', 'In all', 'Per episode', 'Per success']} rows={spent} />
        </Card>
      )}
      <Card
        title="Episodes in flight"
        caption="Concurrency of the run, from its first episode to its last."
        empty="The run took no measurable time."
        wide
      >
        {time.concurrency && <ConcurrencyPlot concurrency={time.concurrency} />}
      </Card>
    </Section>
  )
}

function timeRows({ time }: Summary): (readonly [string, string])[] {
  const { step, stepParts, model, waited, episode, stepsPerSecond, concurrency } = time
  return [
    ...latencyRows('World step', step),
    ...partRows(stepParts),
    ...latencyRows('Model answer', model),
    ...(waited ? [['Waited for model, in all', formatDuration(waited.milliseconds)] as const] : []),
    ...(episode
      ? ([
          ['Episode, median', formatDuration(episode.median)],
          ['Episode, maximum', formatDuration(episode.most)],
        ] as const)
      : []),
    ['Steps per second', formatNumber(stepsPerSecond)],
    ['Peak of episodes in flight', concurrency ? formatCount(concurrency.peak) : '–'],
  ]
}

function partRows(parts: Summary['time']['stepParts']): (readonly [string, string])[] {
  if (!parts) return []
  return [
    ['World step in the server, mean', formatDuration(parts.server)],
    ['World step on the wire', formatDuration(parts.wire)],
    ['World step waiting, mean', formatDuration(parts.queue)],
  ]
}

function latencyRows(name: string, latency: Latency | null): (readonly [string, string])[] {
  if (!latency) return []
  const { median, p90, p99, longest } = latency
  return [
    [`${name}, median (p50)`, formatDuration(median)],
    [`${name}, p90`, formatDuration(p90)],
    [`${name}, p99`, formatDuration(p99)],
    [`${name}, maximum`, formatDuration(longest)],
  ]
}

function spentRows({ tokens, success }: Summary): string[][] {
  if (!tokens) return []
  const isCounted = totalTokens(tokens) !== null
  const amounts: [string, number | null, (value: number) => string][] = [
    ['Requests', tokens.requests, formatNumber],
    ['Tokens read', isCounted ? tokens.prompt : null, formatNumber],
    ['Tokens written', isCounted ? tokens.completion : null, formatNumber],
    ['Answers that drifted', tokens.traced?.drifted ?? null, formatNumber],
    ['Cost, in the currency of the prices', tokens.cost, formatCost],
  ]
  const { successes } = success.overall
  return amounts.flatMap(([name, amount, format]) =>
    amount === null
      ? []
      : [
          [
            name,
            format === formatNumber ? formatCount(amount) : format(amount),
            format(amount / tokens.episodes),
            successes > 0 ? format(amount / successes) : '–',
          ],
        ],
  )
}
