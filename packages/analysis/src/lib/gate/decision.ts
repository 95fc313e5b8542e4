import { studentPoint } from '@episodic/protocol/internal'
import { formatPoints } from '@episodic/report/notes/figure-notes'
import {
  formatCost,
  formatCount,
  formatNumber,
  formatPercent,
  formatShareInterval,
  NOTHING,
} from '@episodic/report/text/format'
import type { Condition } from './condition.ts'

/** `undecided` if the interval reaches over the limit, or there is none. */
export type GateVerdict = 'met' | 'missed' | 'undecided'

/** How a figure is written: a share in per cent, a difference of shares in points, a number, or an amount of money. */
export type GateUnit = 'share' | 'points' | 'number' | 'cost'

export interface Decision extends Condition {
  readonly name: string
  readonly unit: GateUnit
  /** `null` if no finished episode has it. */
  readonly value: number | null
  readonly low: number | null
  readonly high: number | null
  readonly tasks: number
  readonly verdict: GateVerdict
  /**
   * The smallest distance from the limit that so many tasks show with 80 % power; of a comparison the smallest margin,
   * if both runs are equally good. `null` without an interval.
   */
  readonly detectable: number | null
  /**
   * About how many tasks would decide it with 80 % power, if the value is the true one; of a comparison how many can
   * show the margin. `null` if these are enough, and if it is not known.
   */
  readonly tasksNeeded: number | null
  readonly notes: readonly string[]
}

interface Measured extends Pick<Decision, 'name' | 'unit' | 'value' | 'low' | 'high' | 'tasks'> {
  /** Whether it is the same in each of several tasks, and so has no interval. */
  readonly isConstant?: boolean
  readonly notes?: readonly string[]
}

/**
 * Decides a condition by the 95 % interval of a figure: met if all of the interval is on the right side of the limit,
 * missed if none of it is. A figure that is the same in every task decides by itself.
 */
export function decide(condition: Condition, measured: Measured): Decision {
  const { value, low, high, tasks, isConstant = false } = measured
  const { way, limit } = condition
  const [least, most] = isConstant ? [value, value] : [low, high]
  const verdict =
    least === null || most === null
      ? 'undecided'
      : (way === '>=' ? least >= limit : most <= limit)
        ? 'met'
        : (way === '>=' ? most < limit : least > limit)
          ? 'missed'
          : 'undecided'
  const detectable = detectableOf(measured)
  const distance = value === null ? 0 : Math.abs(value - limit)
  const isOpen = verdict === 'undecided' && detectable !== null && distance > 0
  return {
    ...{ name: measured.name, unit: measured.unit, way, limit, value, low, high, tasks, verdict, detectable },
    tasksNeeded: isOpen ? Math.ceil(tasks * (detectable / distance) ** 2) : null,
    notes: [
      ...(measured.notes ?? []),
      ...(value === null ? ['No episode finished.'] : []),
      ...(isConstant ? ['It is the same in every task, so it has no interval.'] : []),
      ...(value !== null && !isConstant && low === null ? ['One task has no interval.'] : []),
    ],
  }
}

/** Half of an interval is the 97.5 % point times the standard error; the 80 % point is added for the power. */
function detectableOf({ low, high, tasks }: Measured): number | null {
  if (low === null || high === null || tasks < 2) return null
  return ((high - low) / 2) * (1 + studentPoint(tasks - 1, 0.6) / studentPoint(tasks - 1))
}

const FORMATS: Readonly<Record<GateUnit, (value: number) => string>> = {
  share: formatPercent,
  points: (share) => `${formatPoints(share * 100)} points`,
  number: formatNumber,
  cost: formatCost,
}

function formatRange({ unit, low, high }: Pick<Decision, 'unit' | 'low' | 'high'>): string {
  if (low === null || high === null) return NOTHING
  const format = FORMATS[unit]
  return unit === 'share'
    ? formatShareInterval({ low, high })
    : `${format(low).replace(' points', '')} to ${format(high)}`
}

/** Returns a decision in words; `sentence` is all of it but the notes. */
export function writtenDecision(decision: Decision) {
  const { name, unit, way, limit, value, low, tasks, verdict, notes } = decision
  const format = FORMATS[unit]
  const size = (amount: number) => format(amount).replace(/^\+/, '')
  const written = {
    name,
    asked: `${way} ${format(limit)}`,
    value: value === null ? NOTHING : format(value),
    interval: formatRange(decision),
    tasks: tasks === 0 ? NOTHING : formatCount(tasks),
    verdict,
    notes: [...notes, ...formatReach(decision, size)],
  }
  const interval = low === null ? '' : ` (95 %: ${written.interval})`
  return { ...written, sentence: `${name} is ${written.value}${interval}, asked ${written.asked}: ${verdict}.` }
}

type Decided = { readonly decisions: readonly Decision[]; readonly baseline: string | null }

function formatReach(
  { unit, limit, verdict, detectable, tasksNeeded }: Decision,
  size: (amount: number) => string,
): string[] {
  if (detectable === null) return []
  const needed = tasksNeeded === null ? null : `about ${formatCount(tasksNeeded)} tasks`
  if (unit === 'points') {
    const reach = `Of two equal runs, so many tasks show a margin of ${size(detectable)}`
    return [needed === null ? `${reach}.` : `${reach}; ${size(-limit)} need ${needed} that differ as these do.`]
  }
  if (verdict !== 'undecided') return []
  const distance = unit === 'share' ? FORMATS.points(detectable).replace(/^\+/, '') : size(detectable)
  return [
    `So many tasks show a distance of ${distance} from the limit${needed === null ? '' : `; ${needed} would decide it, if the value is as measured`}.`,
  ]
}

export function writtenRows({ decisions, baseline }: Decided) {
  const nothing = { asked: NOTHING, value: NOTHING, interval: NOTHING, tasks: NOTHING, notes: [] }
  return [
    ...decisions.map(writtenDecision),
    ...(baseline === null ? [] : [{ name: notWorseThan(baseline), ...nothing, verdict: 'baseline' as const }]),
  ]
}

export function notWorseThan(baseline: string): string {
  return `not worse than ${baseline}`
}

export function writtenVerdicts(
  runs: readonly (Decided & { readonly problem: string | null })[],
  titleOf: (run: number) => string,
): string[][] {
  if (runs.length < 2) return []
  const rows = runs.map(writtenRows)
  const names = [...new Set(rows.flatMap((row) => row.map(({ name }) => name)))]
  const cells = rows.map((row, i) => [
    titleOf(i),
    ...names.map((name) => row.find((each) => each.name === name)?.verdict ?? NOTHING),
    runs[i]?.problem ? 'not decided' : '',
  ])
  return [['', ...names, ''], ...cells]
}
