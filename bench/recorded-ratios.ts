import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Figures, median, report } from './figures.ts'

/**
 * The best that each figure was, as a ratio to its floor in the same run: `bench/recorded-ratios.json`. `--record`
 * writes those of a run that are better. They only rise: what makes a figure slower has to be mended.
 */
const FILE = join(import.meta.dirname, 'recorded-ratios.json')
/** The least share of the best that a figure has to be: runs of one tree differ by a sixth, more on a busy machine. */
const LEAST = 0.75

const recorded = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Record<string, number>>

/** How fast something is, and the floor beside it, each in every round, in operations a second of CPU time. */
export interface BesideFloor {
  readonly of: readonly number[]
  readonly floor: readonly number[]
}

/** Whether every figure is at least 0.75 of the best that was recorded. */
export function reachesRecorded(name: string, figures: Readonly<Record<string, BesideFloor>>): boolean {
  return Object.entries(figures).every(([figure, besides]) => ratioOf(besides) >= limitOf(name, figure))
}

/** Prints each figure as a ratio to its floor with its limit, and the line that the benchmark ends with. */
export function reportRatios(
  name: string,
  figures: Readonly<Record<string, BesideFloor>>,
  { record, ...more }: Omit<Figures, 'ok'> & { readonly record: boolean },
): void {
  const ratios = Object.fromEntries(Object.entries(figures).map(([figure, besides]) => [figure, ratioOf(besides)]))
  for (const [figure, value] of Object.entries(ratios))
    console.error(`${name}, ${figure}: ${value.toFixed(3)} of its floor, at least ${limitOf(name, figure).toFixed(3)}`)
  if (record) {
    const best = Object.entries(ratios).map(([figure, value]) => [figure, Math.max(value, bestOf(name, figure))])
    recorded[name] = Object.fromEntries(best)
    writeFileSync(FILE, `${JSON.stringify(recorded, null, 2)}\n`)
  }
  const limits = Object.fromEntries(Object.keys(ratios).map((figure) => [figure, limitOf(name, figure)]))
  report(name, { ok: reachesRecorded(name, figures), toFloor: ratios, limits, ...more })
}

function limitOf(name: string, figure: string): number {
  return Math.round(LEAST * bestOf(name, figure) * 1_000) / 1_000
}

function bestOf(name: string, figure: string): number {
  return recorded[name]?.[figure] ?? 0
}

/** The median over rounds: other load on the machine affects what is measured in one round alike. */
function ratioOf({ of, floor }: BesideFloor): number {
  return Math.round(median(of.map((rate, round) => rate / (floor[round] as number))) * 1_000) / 1_000
}
