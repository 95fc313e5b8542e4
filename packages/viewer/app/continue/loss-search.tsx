import { formatPercent, formatShareInterval, formatTick } from '@episodic/report/text/format'
import type { LossCurve } from '@episodic/report/view/continuations'
import { useState } from 'preact/hooks'
import { plain } from '../parts/plain-text.tsx'
import { Line, Marker, Whiskers } from '../parts/plots/marks.tsx'
import { areaOf, FULL, Plot, rangesOf } from '../parts/plots/plot-frame.tsx'
import { linearScale, wholeTicks } from '../parts/plots/scale.ts'
import { AskedNote } from './asked-note.tsx'
import type { ContinueTabProps } from './play-context.ts'
import { useAsking, useContinued } from './use-continued.ts'

/** Continuations of a search, unless another number is given, and how many of them at a time. */
const BUDGET = 400
const ROLLOUTS = 16

export function LossSearch({ run, row, model: { record } }: Pick<ContinueTabProps, 'run' | 'row' | 'model'>) {
  const { play, continued, look } = useContinued(run, record.seal)
  const { state, ask } = useAsking()
  const [budget, setBudget] = useState(BUDGET)
  const search = continued.find(({ changed, loss, isPlaying }) => loss || (isPlaying && changed === SEARCH))
  const steps = (record.origin?.step ?? 0) + record.steps.length
  const start = (confirmed: boolean) => {
    const asked = { row, step: record.origin?.step ?? 0, changes: {}, rollouts: ROLLOUTS, budget, confirmed }
    return ask(play('start', run, asked).finally(look))
  }
  return (
    <form
      class="block"
      onSubmit={(event) => {
        event.preventDefault()
        void start(false)
      }}
    >
      <section class="card">
        <h2>Where was it lost?</h2>
        <p class="caption">The value of a step is what continuations from there come to.</p>
        {search?.loss && <LossPlot loss={search.loss} steps={steps} />}
        <p class="flow mid">
          <label>
            Continuations at most{' '}
            <input
              type="number"
              min={10}
              max={2_000}
              value={budget}
              onInput={({ currentTarget }) => setBudget(Number(currentTarget.value))}
            />
          </label>
          <button type="submit" class="button" disabled={state.isBusy || search?.isPlaying}>
            {search?.isPlaying ? 'Looking …' : 'Find the step'}
          </button>
          {search?.isPlaying && (
            <button type="button" class="button" onClick={() => play('stop', run, { name: search.name }).then(look)}>
              Stop
            </button>
          )}
        </p>
        {search?.problem && <p class="callout">{plain(search.problem)}</p>}
        <AskedNote state={state} onAgree={() => start(true)} />
      </section>
    </form>
  )
}

export const SEARCH = 'where was it lost?'

const RANGES = rangesOf(FULL)

function LossPlot({ loss: { step, said, values }, steps }: { readonly loss: LossCurve; readonly steps: number }) {
  const x = wholeTicks(linearScale([0, steps], RANGES.x, 20))
  const y = linearScale([0, 1], RANGES.y, 5)
  return (
    <>
      <p role="status">
        {step === null ? '' : <b>Most of it was lost at step {step}: </b>}
        {plain(said)}
      </p>
      <Plot
        title="Value over the steps"
        size={FULL}
        x={{ scale: x, format: formatTick, label: 'steps before' }}
        y={{ scale: y, format: formatTick, label: 'value' }}
        table={{
          head: ['Steps before', 'Value', '95 %', 'Continuations'],
          rows: values.map(({ count, rate, ...value }) => [
            String(value.step),
            formatPercent(rate),
            formatShareInterval(value),
            String(count),
          ]),
        }}
      >
        <Line points={values.map(({ step: at, rate }) => [at, rate])} x={x} y={y} kind="unshaped" />
        <Whiskers
          whiskers={values.map(({ step: at, rate, low, high, count }) => {
            return { at, value: rate, low, high, tip: `after step ${at}: ${formatPercent(rate)} of ${count}` }
          })}
          x={x}
          y={y}
          kind="unshaped"
        />
        {step !== null && <Marker at={x(step - 0.5)} text={`step ${step}`} area={areaOf(FULL)} />}
      </Plot>
    </>
  )
}
