import type { TopLevelSpec } from 'vega-lite'
import type { AlgorithmName, WorldName } from '../hyperparameters.ts'
import type { TrainingPoint } from '../learner/run-training.ts'
import type { ReferenceLines } from '../worlds/reference-lines.ts'
import { draw } from './draw.ts'
import { estimateOf } from './estimate.ts'

/** A point of a learning curve. */
export interface CurvePoint extends TrainingPoint {
  readonly world: WorldName
  readonly algorithm: AlgorithmName
  readonly seed: string
}

/** What a panel shows. A title of an axis that is longer than the axis would move the title of the panel up. */
const PANELS: Readonly<Record<WorldName, { title: string; axis: string; domain?: [number, number] }>> = {
  'frozen-lake': { title: 'FrozenLake 4×4, slippery', axis: 'return (share of goals)' },
  taxi: { title: 'Taxi, 50 steps', axis: 'return' },
  // Up to 0.1, so that the lines at 0 are within the panel.
  'kuhn-poker': { title: 'Kuhn poker, self-play, chips a hand', axis: 'minus exploitability', domain: [-0.5, 0.1] },
}

/** Draws learning curves as an SVG: a panel for each world, with what they are compared with as level lines. */
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
  const { title, axis, domain } = PANELS[world]
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
  const y = { type: 'quantitative' as const, title: axis, scale: domain ? { domain } : { zero: false } }
  const levelOf = (style: { strokeWidth: number; opacity?: number; strokeDash?: number[] }, ...players: string[]) => ({
    data: { values: lines.filter(({ player }) => players.includes(player)) },
    mark: { type: 'line', ...style } as const,
    encoding: { x, color, y: { ...y, field: 'mean' } },
  })
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
      // Wide and below the optimum, which the solver nearly or fully reaches: so both are seen.
      levelOf({ strokeWidth: 5, opacity: 0.45 }, 'solver'),
      levelOf({ strokeWidth: 1.5, strokeDash: [5, 3] }, 'optimum', 'random'),
    ],
  }
}
