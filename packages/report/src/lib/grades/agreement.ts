import { createRate } from '../fold/clustered-rate.ts'
import { addTo, type DrawnInterval, drawnIntervals } from './drawn-interval.ts'
import type { GradeValue } from './grade-record.ts'

export interface JudgedTwice extends EpisodeName {
  readonly a: GradeValue
  readonly b: GradeValue
}

/** A figure with its 95 % interval: of a share Wilson's, as of other rates, and else by 2,000 draws of tasks. */
export interface AgreementFigure {
  /** `null` if it is not defined: without episodes, or, of κ and α, if chance alone gives full agreement. */
  readonly value: number | null
  readonly low: number | null
  readonly high: number | null
}

export interface Agreement {
  readonly episodes: number
  readonly tasks: number
  /** The share of episodes on which they agree. Scores agree if they differ by at most 0.1. */
  readonly agree: AgreementFigure
  /** Cohen's κ; of scores, weighted by the squared difference. */
  readonly kappa: AgreementFigure
  /** The values, or ranges of scores, of rows and columns. */
  readonly values: readonly string[]
  /** By the value of the first grader, then of the second: the episodes. */
  readonly matrix: readonly (readonly (readonly EpisodeName[])[])[]
  readonly apart: readonly EpisodeName[]
}

export interface EpisodeName {
  readonly task: string
  readonly attempt: number
  readonly try: number
}

/** Scores that differ by at most this agree. A rounding error more is the same. */
const NEAR = 0.1 + 1e-9
const NO_INTERVAL: DrawnInterval = { low: null, high: null }
const SCORE_BINS = ['0 to 0.2', '0.2 to 0.4', '0.4 to 0.6', '0.6 to 0.8', '0.8 to 1'] as const

/**
 * Returns how far two graders agree. κ is 1 − observed / expected disagreement, where the expected one is that of every
 * value of one grader with every value of the other: Cohen, "A Coefficient of Agreement for Nominal Scales" (1960);
 * with squared differences, "Weighted Kappa" (1968).
 *
 * @param labels - those of the scale in their order, which is that of rows and columns.
 */
export function computeAgreement(judged: readonly JudgedTwice[], labels: readonly string[] = []): Agreement {
  const isScored = judged.length > 0 && judged.every(({ a, b }) => typeof a === 'number' && typeof b === 'number')
  const values: readonly string[] = isScored
    ? SCORE_BINS
    : inOrder(
        judged.flatMap(({ a, b }) => [String(a), String(b)]),
        labels,
      )
  const indexOf = (value: GradeValue) =>
    isScored ? Math.min(SCORE_BINS.length - 1, Math.floor(Number(value) * 5 + 1e-9)) : values.indexOf(String(value))
  const matrix: EpisodeName[][][] = values.map(() => values.map(() => []))
  for (const { a, b, task, attempt, try: number } of judged)
    matrix[indexOf(a)]?.[indexOf(b)]?.push({ task, attempt, try: number })

  const size = values.length
  const sumsOf = ({ a, b }: JudgedTwice): ArrayLike<number> => {
    if (isScored) return scoreSums(Number(a), Number(b))
    const cells = new Float64Array(size ** 2)
    cells[indexOf(a) * size + indexOf(b)] = 1
    return cells
  }
  const groups = [...Map.groupBy(judged, ({ task }) => task).values()]
  const agreed = createRate()
  for (const [cluster, group] of groups.entries()) for (const { a, b } of group) agreed.add(cluster, areAlike(a, b))
  const { rate, low, high } = agreed.finish()
  const tasks = groups.map((group) => {
    const sums = new Float64Array(isScored ? 6 : size ** 2)
    for (const one of group) addTo(sums, sumsOf(one))
    return sums
  })
  const all = new Float64Array(tasks[0]?.length ?? 0)
  for (const sums of tasks) addTo(all, sums)
  const kappaOf = isScored ? weightedKappa : (cells: Float64Array) => nominalKappa(cells, size)
  const [kappa = NO_INTERVAL] = drawnIntervals(tasks, [kappaOf])
  return {
    episodes: judged.length,
    tasks: tasks.length,
    agree: { value: rate, low, high },
    kappa: { value: judged.length === 0 ? null : kappaOf(all), ...kappa },
    values,
    matrix,
    apart: judged.flatMap(({ a, b, task, attempt, try: number }) =>
      areAlike(a, b) ? [] : [{ task, attempt, try: number }],
    ),
  }
}

function areAlike(a: GradeValue, b: GradeValue): boolean {
  return typeof a === 'number' && typeof b === 'number' ? Math.abs(a - b) <= NEAR : a === b
}

export function inOrder(values: readonly string[], labels: readonly string[]): string[] {
  const placeOf = (value: string) => (labels.includes(value) ? labels.indexOf(value) : labels.length)
  return [...new Set(values)].sort((a, b) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1))
}

function scoreSums(a: number, b: number): ArrayLike<number> {
  return [1, a, b, a ** 2, b ** 2, (a - b) ** 2]
}

function weightedKappa(sums: Float64Array): number | null {
  const [count = 0, a = 0, b = 0, squaresA = 0, squaresB = 0, differences = 0] = sums
  const expected = (squaresA + squaresB) / count - (2 * a * b) / count ** 2
  if (expected <= 1e-12) return null
  const kappa = 1 - differences / count / expected
  // Where one grader has one value alone, what is left is a rounding error.
  return Math.abs(kappa) < 1e-12 ? 0 : kappa
}

function diagonalShare(cells: Float64Array, size: number): number {
  let [same, count] = [0, 0]
  for (const [i, cell] of cells.entries()) {
    count += cell
    if (Math.floor(i / size) === i % size) same += cell
  }
  return same / count
}

function nominalKappa(cells: Float64Array, size: number): number | null {
  const [rows, columns] = [new Float64Array(size), new Float64Array(size)]
  let count = 0
  for (const [i, cell] of cells.entries()) {
    count += cell
    rows[Math.floor(i / size)] = (rows[Math.floor(i / size)] as number) + cell
    columns[i % size] = (columns[i % size] as number) + cell
  }
  const byChance = rows.reduce((sum, row, i) => sum + row * (columns[i] as number), 0) / count ** 2
  return byChance < 1 - 1e-12 ? (diagonalShare(cells, size) - byChance) / (1 - byChance) : null
}
