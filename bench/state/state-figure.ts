import { draw } from '@episodic-example/training'

/** How long a call takes, by the size of the state. */
export interface StateCost {
  /** What plays the call, such as a store. */
  readonly series: string
  /** Rows that a call changes. */
  readonly rows: number
  /** Bytes of the state, about. */
  readonly bytes: number
  readonly microseconds: number
}

/** The series of a bare loop that reads and writes the whole state. */
export const WHOLE_TEXT = 'whole text, bare loop'

/** Draws calls that change one row and a hundred rows, a panel each, as an SVG. */
export function drawStateCosts(costs: readonly StateCost[]): Promise<string> {
  const series = [...new Set(costs.map((cost) => cost.series))]
  const panelOf = (rows: number) => ({
    title: `${rows === 1 ? 'one row' : `${rows} rows`} changed`,
    width: 300,
    height: 260,
    data: { values: costs.filter((cost) => cost.rows === rows) },
    mark: { type: 'line', point: true } as const,
    encoding: {
      x: {
        field: 'bytes',
        type: 'quantitative',
        title: 'state',
        scale: { type: 'log', nice: false },
        axis: {
          labelOverlap: false,
          values: [1_024, 10_240, 1_048_576, 10_485_760] as number[],
          labelExpr: "datum.value < 1e6 ? datum.value / 1024 + ' KiB' : datum.value / 1048576 + ' MiB'",
        },
      },
      y: {
        field: 'microseconds',
        type: 'quantitative',
        title: 'microseconds a call',
        scale: { type: 'log' },
        axis: { values: [10, 100, 1_000, 10_000, 100_000] as number[], format: ',' },
      },
      color: {
        field: 'series',
        type: 'nominal',
        title: null,
        legend: { labelLimit: 300 },
        sort: series,
        scale: { domain: series, range: ['#0b6bcb', '#2b8a3e', '#d9480f', '#7048e8', '#868e96'] as string[] },
      },
    } as const,
  })
  return draw({
    background: 'white',
    hconcat: [panelOf(1), panelOf(100)],
    config: { font: 'sans-serif', axis: { grid: true, gridOpacity: 0.4 }, view: { stroke: null } },
  })
}
