import { mean, sampleStandardDeviation } from 'simple-statistics'
import type { TopLevelSpec } from 'vega-lite'
import { draw } from './draw.ts'
import type { WorldName } from './hyperparameters.ts'
import type { ReferenceLines } from './reference-lines.ts'
import type { CurvePoint } from './run-training.ts'

/** Student's t for a 95 % interval, by the number of seeds. */
const T = [Number.NaN, Number.NaN, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262] as const

/** The mean over seeds, with its 95 % confidence interval. */
export interface Estimate {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** Estimates a mean from one number for each seed, from 2 to 10 of them. Throws a `RangeError` for another number of seeds. */
export function estimateOf(numbers: readonly number[]): Estimate {
  const t = T[numbers.length]
  if (t === undefined || Number.isNaN(t))
    throw new RangeError(`An interval needs from 2 to ${T.length - 1} seeds; there are ${numbers.length}.`)
  const middle = mean([...numbers])
  const half = (t * sampleStandardDeviation([...numbers])) / Math.sqrt(numbers.length)
  return { mean: middle, low: middle - half, high: middle + half }
}

/** What a panel shows. */
const PANELS: Readonly<Record<WorldName, { title: string; axis: string }>> = {
  'frozen-lake': { title: 'FrozenLake 4×4, slippery', axis: 'return (share of goals)' },
  taxi: { title: 'Taxi, 50 steps', axis: 'return' },
  'kuhn-poker': { title: 'Kuhn poker, self-play', axis: 'minus exploitability (chips a hand)' },
}

/** Draws learning curves as an SVG: a panel for each world, with what they are compared with as dashed lines. */
export async function drawCurves(
  points: readonly CurvePoint[],
  references: Readonly<Partial<Record<WorldName, ReferenceLines>>>,
): Promise<string> {
  const worlds = [...new Set(points.map(({ world }) => world))]
  const spec: TopLevelSpec = {
    background: 'white',
    hconcat: worlds.map((world) => panelOf(world, points, references[world])),
    config: { font: 'sans-serif', axis: { grid: true, gridOpacity: 0.4 }, view: { stroke: null } },
  }
  return draw(spec)
}

function panelOf(
  world: WorldName,
  points: readonly CurvePoint[],
  references: ReferenceLines | undefined,
): Extract<TopLevelSpec, { layer: unknown }> {
  const { title, axis } = PANELS[world]
  const own = points.filter((point) => point.world === world)
  const groups = Map.groupBy(own, ({ algorithm, episodes }) => `${algorithm} ${episodes}`)
  const curves = [...groups.values()].map((group) => {
    const [{ algorithm, episodes }] = group as [CurvePoint]
    const returns = group.map((point) => point.return)
    // One seed has no interval, and its curve no band.
    const [only = Number.NaN] = returns
    const estimate = returns.length > 1 ? estimateOf(returns) : { mean: only, low: only, high: only }
    return { player: algorithm, episodes, ...estimate }
  })
  const end = Math.max(...own.map(({ episodes }) => episodes))
  const lines = Object.entries(references ?? {}).flatMap(([player, mean]) =>
    [0, end].map((episodes) => ({ player, episodes, mean })),
  )
  const x = { field: 'episodes', type: 'quantitative', title: 'episodes' } as const
  const color = {
    field: 'player',
    type: 'nominal',
    title: null,
    legend: { symbolOpacity: 1 },
    scale: {
      domain: ['ppo', 'reinforce', 'optimum', 'solver', 'random'],
      range: ['#0b6bcb', '#d9480f', '#111111', '#2b8a3e', '#868e96'],
    },
  } as const
  const y = { type: 'quantitative', title: axis, scale: { zero: false } } as const
  return {
    title,
    width: 260,
    height: 240,
    layer: [
      {
        data: { values: curves },
        mark: { type: 'area', opacity: 0.2 },
        encoding: { x, color, y: { ...y, field: 'low' }, y2: { field: 'high' } },
      },
      { data: { values: curves }, mark: { type: 'line' }, encoding: { x, color, y: { ...y, field: 'mean' } } },
      {
        data: { values: lines },
        mark: { type: 'line', strokeDash: [5, 3] },
        encoding: { x, color, y: { ...y, field: 'mean' } },
      },
    ],
  }
}
