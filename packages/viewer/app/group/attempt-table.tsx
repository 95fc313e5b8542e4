import { formatCost, formatDuration, formatNumber } from '@episodic/report/text/format'
import { formatSigned, formatTokens } from '../parts/amounts.ts'
import { FiguresTable } from '../parts/figures-table.tsx'
import { ResultBadge } from '../parts/result.tsx'
import { episodeHref } from '../route/route.ts'
import type { Attempt } from './attempts.ts'

const MOST_ROWS = 200

interface AttemptTableProps {
  readonly run: string
  readonly attempts: readonly Attempt[]
  /** (r − mean) / sd of each, `null` without a return. */
  readonly advantages: readonly (number | null)[]
  readonly chosen: number
  readonly ticked: readonly number[]
  readonly onTick: (attempt: number) => void
}

export function AttemptTable({ run, attempts, advantages, chosen, ticked, onTick }: AttemptTableProps) {
  const returns = attempts.map(({ unshaped }) => unshaped).filter((value) => value !== null)
  const [low, high] = [Math.min(0, ...returns), Math.max(0, ...returns)]
  const hasModel = attempts.some(({ tokens }) => tokens !== null)
  const isRetried = attempts.some(({ tries }) => tries > 1)
  return (
    <>
      <FiguresTable
        look={['frame table-frame', 'rewards attempts']}
        head={[
          <span class="unseen">side by side</span>,
          ...['attempt', 'result', 'return', ''],
          <span title="(return − mean) / standard deviation of this group">advantage</span>,
          ...['steps', 'refused'],
          ...(hasModel ? ['tokens', 'cost', 'model'] : []),
          ...(isRetried ? ['tries'] : []),
        ]}
        texts={3}
        rows={attempts.slice(0, MOST_ROWS).map((attempt, i) => {
          const { words, unshaped, result, ending, steps, refused, tokens, cost, modelMilliseconds, tries } = attempt
          const advantage = advantages[i] ?? null
          return [
            <input
              type="checkbox"
              aria-label={`Attempt ${words.attempt} side by side`}
              checked={ticked.includes(words.attempt)}
              onChange={() => onTick(words.attempt)}
            />,
            <a href={attemptHref(run, attempt)}>{words.attempt}</a>,
            <ResultBadge result={result} ending={ending} />,
            <b>{formatNumber(unshaped)}</b>,
            <ReturnBar value={unshaped} low={low} high={high} />,
            <span class={!advantage ? 'muted' : advantage > 0 ? 'gain' : 'loss'}>
              {advantage === null ? '–' : `${formatSigned(Math.round(advantage * 100) / 100)} σ`}
            </span>,
            steps,
            <span class={refused > 0 ? 'loss' : 'muted'}>{refused}</span>,
            ...(hasModel ? [formatTokens(tokens), formatCost(cost), formatDuration(modelMilliseconds)] : []),
            ...(isRetried ? [tries] : []),
          ]
        })}
        part={[0, attempts.length]}
        chosen={chosen}
      />
      {attempts.length > MOST_ROWS && (
        <p class="muted">
          The first {MOST_ROWS} of {attempts.length} attempts; the list of episodes has all.
        </p>
      )}
    </>
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
