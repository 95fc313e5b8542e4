import { formatDuration, formatNumber } from '@episodic/report'
import { useMemo } from 'preact/hooks'
import { formatSigned } from '../parts/amounts.ts'
import { NumberHead } from '../parts/number-head.tsx'
import { plain } from '../parts/plain-text.tsx'
import { useWindow } from '../parts/virtual/use-window.ts'
import type { EpisodeModel } from './episode-model.ts'

/** The height of a row, in pixels; see `tables.css`. */
const ROW = 26

interface RewardsTabProps {
  readonly model: EpisodeModel
  readonly step: number | null
  readonly onStep: (step: number) => void
}

export function RewardsTab({ model, step, onStep }: RewardsTabProps) {
  const { steps } = model.shown
  const terms = useMemo(() => [...new Set(steps.flatMap(({ reward }) => Object.keys(reward.terms)))], [steps])
  const isShaped = steps.some(({ reward }) => reward.shaping !== 0)
  const hasPotential = steps.some(({ potential }) => potential !== null)
  const { body, from, to } = useWindow(steps.length, ROW)
  const sum = (value: (reward: (typeof steps)[number]['reward']) => number) =>
    steps.reduce((total, { reward }) => total + value(reward), 0)
  const columns = 6 + terms.length + Number(isShaped) + Number(hasPotential)
  return (
    <div class="frame table-frame">
      <table class="rewards" aria-rowcount={steps.length + 2}>
        <thead>
          <tr aria-rowindex={1}>
            <NumberHead>step</NumberHead>
            <th scope="col">tool</th>
            {terms.map((term) => (
              <NumberHead key={term}>{plain(term)}</NumberHead>
            ))}
            {isShaped && <NumberHead>shaping</NumberHead>}
            <NumberHead>reward</NumberHead>
            <NumberHead title="rewards from the step on, not discounted">still to come</NumberHead>
            <NumberHead title="rewards up to the step">Σ</NumberHead>
            {hasPotential && <NumberHead title="the potential after the step">Φ</NumberHead>}
            <NumberHead>world</NumberHead>
          </tr>
        </thead>
        <tbody ref={body}>
          <tr class="table-space" style={{ height: `${from * ROW}px` }} />
          {steps.slice(from, to).map(({ action, reward, potential, refused, milliseconds, seat }, i) => {
            const index = from + i
            const running = model.returns[index]
            return (
              <tr
                key={index}
                class={refused ? 'refused' : ''}
                aria-rowindex={index + 2}
                aria-current={index === step ? 'step' : undefined}
              >
                <td class="number">
                  <button
                    type="button"
                    class="bare text-more"
                    aria-label={`Step ${index + 1}`}
                    onClick={() => onStep(index)}
                  >
                    {index + 1}
                  </button>
                </td>
                <td class="tool clip">
                  {seat !== undefined && <>{plain(seat)}: </>}
                  {plain(action.tool)}
                  {refused && <span class="loss"> ✗ {refused}</span>}
                </td>
                {terms.map((term) => (
                  <Value key={term} value={reward.terms[term] ?? null} />
                ))}
                {isShaped && <Value value={reward.shaping} />}
                <Value value={reward.total} isStrong />
                <td class="number">{formatNumber(running?.toGo ?? null)}</td>
                <td class="number">{formatNumber(running?.sum ?? null)}</td>
                {hasPotential && <td class="number">{formatNumber(potential)}</td>}
                <td class="number muted">{formatDuration(milliseconds)}</td>
              </tr>
            )
          })}
          <tr class="table-space" style={{ height: `${(steps.length - to) * ROW}px` }} />
        </tbody>
        <tfoot>
          <tr aria-rowindex={steps.length + 2}>
            <th scope="row" class="number">
              Σ
            </th>
            <td />
            {terms.map((term) => (
              <Value key={term} value={sum((reward) => reward.terms[term] ?? 0)} isStrong />
            ))}
            {isShaped && <Value value={sum(({ shaping }) => shaping)} isStrong />}
            <Value value={sum(({ total }) => total)} isStrong />
            <td colSpan={columns - terms.length - Number(isShaped) - 3} />
          </tr>
        </tfoot>
      </table>
    </div>
  )
}

function Value({ value, isStrong = false }: { readonly value: number | null; readonly isStrong?: boolean }) {
  const sign = value === null || value === 0 ? 'muted' : value > 0 ? 'gain' : 'loss'
  return <td class={`number ${sign}`}>{isStrong ? <b>{formatSigned(value)}</b> : formatSigned(value)}</td>
}
