import { formatCost, formatDuration, formatNumber } from '@episodic/report'
import { formatSigned, formatTokens } from '../parts/amounts.ts'
import { NumberHead } from '../parts/number-head.tsx'
import { ResultBadge } from '../parts/result.tsx'
import { episodeHref } from '../route/route.ts'
import type { Attempt } from './attempts.ts'

/** Rows that are rendered at once. */
const MOST_ROWS = 200

interface AttemptTableProps {
  readonly run: string
  readonly attempts: readonly Attempt[]
  /** (r − mean) / sd of each, `null` without a return. */
  readonly advantages: readonly (number | null)[]
  /** The row that keys act on. */
  readonly chosen: number
  /** Attempts to open side by side. */
  readonly ticked: readonly number[]
  readonly onTick: (attempt: number) => void
}

export function AttemptTable({ run, attempts, advantages, chosen, ticked, onTick }: AttemptTableProps) {
  const returns = attempts.map(({ unshaped }) => unshaped).filter((value) => value !== null)
  const [low, high] = [Math.min(0, ...returns), Math.max(0, ...returns)]
  const hasModel = attempts.some(({ tokens }) => tokens !== null)
  const isRetried = attempts.some(({ tries }) => tries > 1)
  return (
    <div class="frame table-frame">
      <table class="rewards attempts" aria-rowcount={attempts.length + 1}>
        <thead>
          <tr>
            <th scope="col">
              <span class="unseen">side by side</span>
            </th>
            <NumberHead>attempt</NumberHead>
            <th scope="col">result</th>
            <NumberHead colSpan={2}>return</NumberHead>
            <NumberHead title="(return − mean) / standard deviation of this group">advantage</NumberHead>
            <NumberHead>steps</NumberHead>
            <NumberHead>refused</NumberHead>
            {hasModel && (
              <>
                <NumberHead>tokens</NumberHead>
                <NumberHead>cost</NumberHead>
                <NumberHead>model</NumberHead>
              </>
            )}
            {isRetried && <NumberHead>tries</NumberHead>}
          </tr>
        </thead>
        <tbody>
          {attempts.slice(0, MOST_ROWS).map((attempt, i) => {
            const { words, unshaped, result, ending, steps, refused, tokens, cost, modelMilliseconds, tries } = attempt
            const advantage = advantages[i] ?? null
            return (
              <tr key={words.row} aria-rowindex={i + 2} class={i === chosen ? 'chosen' : ''}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Attempt ${words.attempt} side by side`}
                    checked={ticked.includes(words.attempt)}
                    onChange={() => onTick(words.attempt)}
                  />
                </td>
                <td class="number">
                  <a href={attemptHref(run, attempt)}>{words.attempt}</a>
                </td>
                <td>
                  <ResultBadge result={result} ending={ending} />
                </td>
                <td class="number">
                  <b>{formatNumber(unshaped)}</b>
                </td>
                <td>
                  <ReturnBar value={unshaped} low={low} high={high} />
                </td>
                <td
                  class={`number ${advantage === null || advantage === 0 ? 'muted' : advantage > 0 ? 'gain' : 'loss'}`}
                >
                  {advantage === null ? '–' : `${formatSigned(Math.round(advantage * 100) / 100)} σ`}
                </td>
                <td class="number">{steps}</td>
                <td class={`number ${refused > 0 ? 'loss' : 'muted'}`}>{refused}</td>
                {hasModel && (
                  <>
                    <td class="number">{formatTokens(tokens)}</td>
                    <td class="number">{formatCost(cost)}</td>
                    <td class="number">{formatDuration(modelMilliseconds)}</td>
                  </>
                )}
                {isRetried && <td class="number">{tries}</td>}
              </tr>
            )
          })}
        </tbody>
      </table>
      {attempts.length > MOST_ROWS && (
        <p class="muted">
          The first {MOST_ROWS} of {attempts.length} attempts; the list of episodes has all.
        </p>
      )}
    </div>
  )
}

export function attemptHref(run: string, { words: { task, attempt } }: Attempt, beside?: number): string {
  return episodeHref(run, task, attempt, beside === undefined ? {} : { beside: String(beside) })
}

interface ReturnBarProps {
  readonly value: number | null
  readonly low: number
  readonly high: number
}

function ReturnBar({ value, low, high }: ReturnBarProps) {
  if (value === null || high === low) return null
  const at = (x: number) => ((x - low) / (high - low)) * 118 + 1
  return (
    <svg width={120} height={14} viewBox="0 0 120 14" aria-hidden="true">
      <rect
        class={value < 0 ? 'loss' : 'gain'}
        x={Math.min(at(0), at(value))}
        y={3}
        width={Math.abs(at(value) - at(0))}
        height={8}
      />
      <line class="zero" x1={at(0)} x2={at(0)} y1={0} y2={14} />
    </svg>
  )
}
