import type { Latency, Summary } from '@episodic/report/fold/summary'
import { totalTokens } from '@episodic/report/fold/token-fold'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import { rowTimes } from '@episodic/report/rows/row-times'
import { formatCost, formatCount, formatDuration, formatNumber } from '@episodic/report/text/format'
import { Card, Section } from '../parts/card.tsx'
import { FiguresTable } from '../parts/figures-table.tsx'
import { ConcurrencyPlot, LatencyPlot } from '../parts/plots/time-plots.tsx'

export function Times({ summary, columns }: { readonly summary: Summary; readonly columns: EpisodeColumns | null }) {
  const { time } = summary
  const spent = spentRows(summary, columns)
  return (
    <Section title="Time and cost">
      <Card
        title="World step"
        caption="Time from sending an action to receiving the world’s answer, including failed episodes. The time of the policy is not included."
        empty="Unknown: no step was recorded, or an external agent played."
      >
        {time.step && <LatencyPlot latency={time.step} title="World step" counted="steps" />}
      </Card>
      {time.model && (
        <Card
          title="Model answer"
          caption="Time from sending a request to the end of the model’s answer, without requests that failed before and the waiting for the rate limit."
        >
          <LatencyPlot latency={time.model} title="Model answer" counted="answers" />
        </Card>
      )}
      <Card title="Time statistics" caption="Percentiles are exact to 0.8 %.">
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

function spentRows({ tokens, success }: Summary, columns: EpisodeColumns | null): string[][] {
  if (!tokens) return []
  const times = columns && rowTimes(columns)
  const isCounted = totalTokens(tokens) !== null
  const amounts: [string, number | null, (value: number) => string][] = [
    ['Requests', tokens.requests, formatNumber],
    ['Tokens read', isCounted ? tokens.prompt : null, formatNumber],
    ['of these cached', times?.cached ?? null, formatNumber],
    ['Tokens written', isCounted ? tokens.completion : null, formatNumber],
    ['Answers that drifted', tokens.traced?.drifted ?? null, formatNumber],
    ['Cost, in the currency of the prices', tokens.cost, formatCost],
    ['Time of models', times?.model ?? null, formatDuration],
    ['Time waited for them', times?.waited ?? null, formatDuration],
    ['Time of the world', times?.world ?? null, formatDuration],
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
