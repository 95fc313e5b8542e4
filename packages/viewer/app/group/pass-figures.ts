import { passAtK, passHatK } from '@episodic/report/fold/statistics'

/** Of k attempts that are drawn from those there are: whether one succeeds, and whether all do. */
export interface PassFigure {
  readonly k: number
  readonly any: number
  readonly all: number
}

export function passFigures(count: number, successes: number): PassFigure[] {
  const sizes: number[] = []
  for (let k = 1; k < count; k *= 2) sizes.push(k)
  if (count > 0) sizes.push(count)
  return sizes.map((k) => ({ k, any: passAtK(count, successes, k), all: passHatK(count, successes, k) }))
}
