import type { Reward } from '@episodic/protocol'
import { formatDuration, formatNumber } from '@episodic/report/text/format'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { formatSigned } from '../parts/amounts.ts'
import { FiguresTable } from '../parts/figures-table.tsx'
import { Pager } from '../parts/pager.tsx'
import { plain } from '../parts/plain-text.tsx'
import type { EpisodeModel } from './episode-model.ts'

const PAGE = 200

interface RewardsTabProps {
  readonly model: EpisodeModel
  readonly step: number | null
  readonly onStep: (step: number) => void
}

export function RewardsTab({ model: { shown, returns }, step, onStep }: RewardsTabProps) {
  const { steps } = shown
  const [page, setPage] = useState(0)
  useEffect(() => setPage(Math.floor((step ?? 0) / PAGE)), [step])
  const terms = useMemo(() => [...new Set(steps.flatMap(({ reward }) => Object.keys(reward.terms)))], [steps])
  const isShaped = steps.some(({ reward }) => reward.shaping !== 0)
  const hasPotential = steps.some(({ potential }) => potential !== null)
  const earned: readonly ((reward: Reward) => number | null)[] = [
    ...terms.map((term) => (reward: Reward) => reward.terms[term] ?? null),
    ...(isShaped ? [({ shaping }: Reward) => shaping] : []),
    ({ total }) => total,
  ]
  const sum = (value: (reward: Reward) => number | null) =>
    steps.reduce((total, { reward }) => total + (value(reward) ?? 0), 0)
  const from = page * PAGE
  return (
    <>
      <FiguresTable
        look={['frame table-frame', 'rewards']}
        head={[
          ...['step', 'tool', ...terms.map(plain), ...(isShaped ? ['shaping'] : []), 'reward'],
          <span title="rewards from the step on, not discounted">still to come</span>,
          <span title="rewards up to the step">Σ</span>,
          ...(hasPotential ? [<span title="the potential after the step">Φ</span>] : []),
          'world',
        ]}
        texts={2}
        rows={steps.slice(from, from + PAGE).map(({ action, reward, potential, refused, milliseconds, seat }, i) => [
          <button
            type="button"
            class="bare text-more"
            aria-label={`Step ${from + i + 1}`}
            onClick={() => onStep(from + i)}
          >
            {from + i + 1}
          </button>,
          <div class="tool clip">
            {seat !== undefined && <>{plain(seat)}: </>}
            {plain(action.tool)}
            {refused && <span class="loss"> ✗ {refused}</span>}
          </div>,
          ...earned.map((value) => signed(value(reward))),
          formatNumber(returns[from + i]?.toGo ?? null),
          formatNumber(returns[from + i]?.sum ?? null),
          ...(hasPotential ? [formatNumber(potential)] : []),
          <span class="muted">{formatDuration(milliseconds)}</span>,
        ])}
        foot={['Σ', '', ...earned.map((value) => <b>{signed(sum(value))}</b>)]}
        part={[from, steps.length]}
        chosen={(step ?? -1) - from}
      />
      <Pager name="steps" from={from} size={PAGE} count={steps.length} onPage={setPage} />
    </>
  )
}

function signed(value: number | null) {
  return (
    <span class={value === null || value === 0 ? 'muted' : value > 0 ? 'gain' : 'loss'}>{formatSigned(value)}</span>
  )
}
