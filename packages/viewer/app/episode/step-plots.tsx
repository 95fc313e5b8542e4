import { formatDuration, formatNumber } from '@episodic/report/text/format'
import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { formatSigned } from '../parts/amounts.ts'
import type { EpisodeModel } from './episode-model.ts'
import { linePath, signedBars, stackedBars } from './step-bars.ts'

interface StepPlotsProps {
  readonly model: EpisodeModel
  /** From 0; `null`: the start. */
  readonly step: number | null
  readonly onStep: (step: number | null) => void
}

/** Time, reward and potential of all steps on one axis, on which a step is chosen by pointer or by keys. */
export function StepPlots({ model, step, onStep }: StepPlotsProps) {
  const { steps } = model.shown
  const plots = useMemo(() => plotsOf(model), [model])
  const area = useRef<HTMLDivElement>(null)
  const stepAt = (event: PointerEvent) => {
    const box = area.current?.getBoundingClientRect()
    if (!box || steps.length === 0) return
    const index = Math.floor(((event.clientX - box.left) / box.width) * steps.length)
    onStep(Math.max(0, Math.min(steps.length - 1, index)))
  }
  if (steps.length === 0) return null
  return (
    <div class="step-plots">
      <div class="plot-names muted small one-line" aria-hidden="true">
        {plots.map(({ name }) => (
          <span key={name}>{name}</span>
        ))}
      </div>
      <div
        class="plot-area"
        ref={area}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          stepAt(event)
        }}
        onPointerMove={(event) => event.buttons > 0 && stepAt(event)}
      >
        {plots.map(({ name, label, content }) => (
          <svg
            key={name}
            class="step-plot"
            role="img"
            aria-label={label}
            viewBox={`0 0 ${steps.length} 1`}
            preserveAspectRatio="none"
          >
            {step !== null && <rect class="chosen-step" x={step} width={1} y={0} height={1} />}
            {content}
          </svg>
        ))}
        <input
          type="range"
          class="scrubber"
          aria-label="Step"
          aria-valuetext={step === null ? 'start' : `step ${step + 1} of ${steps.length}`}
          min={0}
          max={steps.length}
          value={step === null ? 0 : step + 1}
          onInput={({ currentTarget }) => {
            const value = Number(currentTarget.value)
            onStep(value === 0 ? null : value - 1)
          }}
        />
      </div>
      <div class="plot-names plot-limits muted small one-line" aria-hidden="true">
        {plots.map(({ name, limits }) => (
          <span key={name}>{limits}</span>
        ))}
      </div>
    </div>
  )
}

interface Plot {
  readonly name: string
  readonly label: string
  readonly limits: string
  readonly content: ComponentChildren
}

function plotsOf({ shown, answersOfStep, answers, usualReward }: EpisodeModel): Plot[] {
  const { steps } = shown
  const spent = (part: (time: { readonly milliseconds: number; readonly waited: number }) => number) =>
    answersOfStep.map((numbers) =>
      numbers.reduce((sum, number) => {
        const time = answers[number]?.completion.time
        return time ? sum + part(time) : sum
      }, 0),
    )
  const times = stackedBars([
    steps.map(({ milliseconds }) => milliseconds ?? 0),
    spent(({ milliseconds }) => milliseconds),
    spent(({ waited }) => waited),
  ])
  const rewards = signedBars(
    steps.map(({ reward }) => reward.total),
    usualReward,
  )
  const potentials = steps.map(({ potential }) => potential)
  const plots: Plot[] = []
  if (times.most > 0)
    plots.push({
      name: 'time',
      label: `Time of ${steps.length} steps: world, model and waiting; the longest took ${formatDuration(times.most)}`,
      limits: formatDuration(times.most),
      content: times.paths.map((path, i) => <path key={i} class={['world', 'model', 'waited'][i]} d={path} />),
    })
  plots.push({
    name: 'reward',
    label: `Reward of ${steps.length} steps, from ${formatNumber(rewards.low)} to ${formatNumber(rewards.high)}`,
    limits: `${formatSigned(rewards.low)} … ${formatSigned(rewards.high)}`,
    content: (
      <>
        <line class="zero" x1={0} x2={steps.length} y1={rewards.zero} y2={rewards.zero} />
        <path class="gain" d={rewards.gains} />
        <path class="loss" d={rewards.losses} />
        <path class="pending" d={rewards.usual} />
      </>
    ),
  })
  if (potentials.some((potential) => potential !== null)) {
    const { path, low, high } = linePath(potentials)
    plots.push({
      name: 'Φ',
      label: `Potential after ${steps.length} steps, from ${formatNumber(low)} to ${formatNumber(high)}`,
      limits: `${formatNumber(low)} … ${formatNumber(high)}`,
      content: <path class="potential" d={path} />,
    })
  }
  return plots
}
