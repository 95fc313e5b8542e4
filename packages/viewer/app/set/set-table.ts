import type { PairedFigure } from '@episodic/report/compare/comparison'
import { SIGNIFICANCE } from '@episodic/report/compare/significance'
import { voidBounds } from '@episodic/report/fold/void-bounds'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import type { RunEntry } from '@episodic/report/view/run-entry'
import type { CostedRun } from '../parts/plots/cost-plot.tsx'

export interface SetTable {
  /** As `name@version`. */
  readonly worlds: readonly string[]
  /** The one with the highest success in the mean of the worlds first. */
  readonly players: readonly string[]
  runsOf(world: string, player?: string): readonly RunEntry[]
}

export function toSetTable(runs: readonly RunEntry[]): SetTable {
  const ordered = runs.toSorted((a, b) => Number(isBaseline(b)) - Number(isBaseline(a)) || (a.name < b.name ? -1 : 1))
  const byPlayer = Map.groupBy(ordered, getPlayer)
  const success = new Map([...byPlayer].map(([player, own]) => [player, successOf(own)]))
  return {
    worlds: [...new Set(ordered.map(getWorld))].sort(),
    players: [...byPlayer.keys()].toSorted((a, b) => (success.get(b) ?? 0) - (success.get(a) ?? 0)),
    runsOf: (world, player) =>
      ordered.filter((run) => getWorld(run) === world && (player === undefined || getPlayer(run) === player)),
  }
}

export function isBaseline({ member }: RunEntry): boolean {
  return member?.isBaseline ?? false
}

function getPlayer({ member, players }: RunEntry): string {
  return member?.player ?? players.join()
}

function getWorld({ environments }: RunEntry): string {
  return environments.join()
}

export type ComparedCell =
  | { readonly kind: 'baseline' }
  | { readonly kind: 'shown'; readonly success: PairedFigure; readonly isShown: boolean }
  | { readonly kind: 'left-out'; readonly why: string }

/**
 * Returns what the comparison of a world says of a run; `null` if there is none.
 *
 * @param compared - or why the runs of the world cannot be compared.
 */
export function findCell(compared: ComparedRuns | string | null, run: RunEntry): ComparedCell | null {
  if (typeof compared === 'string') return isBaseline(run) ? null : { kind: 'left-out', why: compared }
  if (!compared) return null
  const { runs, leftOut, contrasts, comparisons } = compared
  const without = leftOut.find((one) => one.run === run.id)
  if (without) return { kind: 'left-out', why: without.why }
  const place = runs.indexOf(run.id)
  if (place === 0) return { kind: 'baseline' }
  const contrasted = contrasts?.contrasts[place - 1]?.success
  const success = contrasted ?? comparisons[place - 1]?.success
  if (!success) return null
  return {
    kind: 'shown',
    success,
    isShown: (contrasted?.holm ?? success.p) < SIGNIFICANCE && success.effect !== 'same',
  }
}

/** Of players that have episodes in every world: the mean of their rates, and what an episode takes. */
export function toCostedRuns({ worlds, players, runsOf }: SetTable): CostedRun[] {
  return players.flatMap((player) => {
    const runs = worlds.flatMap((world) => runsOf(world, player).slice(0, 1))
    const rates = runs.flatMap(({ success }) => success?.rate ?? [])
    if (rates.length < worlds.length) return []
    const sum = (read: (run: RunEntry) => number | null) =>
      runs.reduce<number | null>((total, run) => {
        const value = read(run)
        return total === null || value === null ? null : total + value
      }, 0)
    const episodes = sum(({ finished, failed }) => finished + failed) ?? 1
    const each = (read: (run: RunEntry) => number | null) => {
      const total = sum(read)
      return total === null ? null : total / episodes
    }
    const mean = (values: readonly number[]) => values.reduce((total, value) => total + value, 0) / values.length
    const bounds = runs.map(({ success, finished, failed }) => {
      const rate = success?.rate ?? 0
      return voidBounds({ successes: success?.successes ?? 0, finished, failed }) ?? { low: rate, high: rate }
    })
    const scheduled = sum((run) => run.scheduled) ?? 1
    const finished = sum((run) => run.finished) ?? 0
    return [
      {
        name: player,
        success: mean(rates),
        bounds: { low: mean(bounds.map(({ low }) => low)), high: mean(bounds.map(({ high }) => high)) },
        without: (scheduled - finished) / scheduled,
        tokens: each(({ tokens }) => tokens),
        cost: each(({ cost, unpriced }) => cost ?? unpriced?.cost ?? null),
        isPart: runs.some(({ unpriced }) => unpriced !== undefined),
      },
    ]
  })
}

/** The success of a player over all worlds, for the order of the rows; below all others without a rate. */
function successOf(runs: readonly RunEntry[]): number {
  const rates = runs.flatMap(({ success }) => success?.rate ?? [])
  return rates.length === 0 ? -1 : rates.reduce((total, rate) => total + rate, 0) / rates.length
}
