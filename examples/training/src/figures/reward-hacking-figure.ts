import type { TopLevelSpec } from 'vega-lite'
import type { CourierName, HackingPoint } from '../learner/reward-hacking.ts'
import { draw } from './draw.ts'
import { estimateOf } from './estimate.ts'

const TITLES: Readonly<Record<CourierName, string>> = {
  exploitable: 'The checkpoint pays each time',
  fixed: 'The checkpoint pays once',
}

/** Draws what is earned beside what is achieved, over the episodes of a training, as an SVG: a panel for each world. */
export function drawRewardHacking(points: readonly HackingPoint[]): Promise<string> {
  const worlds = [...new Set(points.map(({ world }) => world))]
  const spec: TopLevelSpec = {
    background: 'white',
    hconcat: worlds.map((world) =>
      panelOf(
        TITLES[world],
        points.filter((point) => point.world === world),
      ),
    ),
    config: { font: 'sans-serif', axis: { grid: true, gridOpacity: 0.4 }, view: { stroke: null } },
  }
  return draw(spec)
}

function panelOf(title: string, points: readonly HackingPoint[]): Extract<TopLevelSpec, { layer: unknown }> {
  const values = [...Map.groupBy(points, ({ episodes }) => episodes)].flatMap(([episodes, group]) => [
    { episodes, figure: 'return', ...estimateOf(group.map((point) => point.return)) },
    { episodes, figure: 'delivered', ...estimateOf(group.map((point) => point.success)) },
  ])
  const x = { field: 'episodes', type: 'quantitative', title: 'episodes' } as const
  const y = { type: 'quantitative' as const, title: 'return, share delivered', scale: { domain: [0, 3] } }
  const color = {
    field: 'figure',
    type: 'nominal',
    title: null,
    legend: { symbolOpacity: 1 },
    scale: { domain: ['return', 'delivered'], range: ['#0b6bcb', '#2b8a3e'] },
  } as const
  return {
    title,
    width: 300,
    height: 220,
    data: { values },
    layer: [
      {
        mark: { type: 'area', opacity: 0.2, clip: true },
        encoding: { x, color, y: { ...y, field: 'low' }, y2: { field: 'high' } },
      },
      { mark: { type: 'line', clip: true }, encoding: { x, color, y: { ...y, field: 'mean' } } },
    ],
  }
}
