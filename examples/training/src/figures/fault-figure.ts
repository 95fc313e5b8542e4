import { draw } from './draw.ts'

/**
 * Whose curves are compared, in the order of the legend. The first is drawn wide, so that a curve which lies on it is
 * seen too.
 */
export const FAULT_PLAYERS = ['without faults', 'Episodic', 'in-memory server, retries without keys'] as const

/** A point of the learning curve of a learner whose server and connection fail, or do not. */
export interface FaultPoint {
  /** Whose curve it belongs to. */
  readonly player: (typeof FAULT_PLAYERS)[number]
  /** Episodes that had been learned from. */
  readonly episodes: number
  /** The mean return on held-out seeds. */
  readonly return: number
}

const COLORS = ['#adb5bd', '#0b6bcb', '#d9480f']

/** Draws the learning curves of `FAULT_PLAYERS` as an SVG. */
export function drawFaultCurves(points: readonly FaultPoint[]): Promise<string> {
  const layerOf = (strokeWidth: number, shown: readonly FaultPoint[]) => ({
    data: { values: [...shown] },
    mark: { type: 'line', strokeWidth } as const,
    encoding: {
      x: { field: 'episodes', type: 'quantitative', title: 'episodes' },
      y: { field: 'return', type: 'quantitative', title: 'return (share of goals)' },
      color: {
        field: 'player',
        type: 'nominal',
        title: null,
        legend: { labelLimit: 400 },
        scale: { domain: FAULT_PLAYERS, range: COLORS },
      },
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
        points.filter(({ player }) => player === FAULT_PLAYERS[0]),
      ),
      layerOf(
        2,
        points.filter(({ player }) => player !== FAULT_PLAYERS[0]),
      ),
    ],
    config: { font: 'sans-serif', axis: { grid: true, gridOpacity: 0.4 }, view: { stroke: null } },
  })
}
