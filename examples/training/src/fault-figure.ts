import { draw } from './draw.ts'

/** A point of the learning curve of a learner whose server and connection fail, or do not. */
export interface FaultPoint {
  /** Whose curve it belongs to. */
  readonly player: string
  /** Episodes that had been learned from. */
  readonly episodes: number
  /** The mean return on held-out seeds. */
  readonly return: number
}

const COLORS = ['#adb5bd', '#0b6bcb', '#d9480f']

/** Draws learning curves of up to three players as an SVG. The first is a wide line, so that a curve which lies on it is seen too. */
export function drawFaultCurves(points: readonly FaultPoint[]): Promise<string> {
  const players = [...new Set(points.map(({ player }) => player))]
  const layerOf = (strokeWidth: number, shown: readonly FaultPoint[]) => ({
    data: { values: [...shown] },
    mark: { type: 'line', strokeWidth } as const,
    encoding: {
      x: { field: 'episodes', type: 'quantitative', title: 'episodes' },
      y: { field: 'return', type: 'quantitative', title: 'return on held-out seeds (share of goals)' },
      color: { field: 'player', type: 'nominal', title: null, scale: { domain: players, range: COLORS } },
    } as const,
  })
  return draw({
    background: 'white',
    title: 'FrozenLake 4×4, slippery: PPO under faults',
    width: 480,
    height: 260,
    layer: [
      layerOf(
        7,
        points.filter(({ player }) => player === players[0]),
      ),
      layerOf(
        2,
        points.filter(({ player }) => player !== players[0]),
      ),
    ],
    config: { font: 'sans-serif', axis: { grid: true, gridOpacity: 0.4 }, view: { stroke: null } },
  })
}
