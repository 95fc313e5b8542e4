import { draw } from './draw.ts'
import { estimateOf } from './estimate.ts'

/** The result of one training of an experiment, as a line of `ablations.ts`. */
export type AblationResult = Readonly<Record<string, string | number | null>>

/** An experiment: what differs between its trainings, and what is measured. */
export interface Ablation {
  readonly title: string
  /** The names of what differs, by the value of the field. */
  readonly field: string
  readonly names: Readonly<Record<string, string>>
  /** A panel for each, with the sum of these fields on its axis. */
  readonly figures: readonly { readonly title: string; readonly fields: readonly string[] }[]
}

/** The experiments of `ablations.ts`. */
export const ABLATIONS = {
  curricula: {
    title: 'Hallway: until 90 % of the tasks are solved',
    field: 'drawing',
    names: { uniform: 'uniform draws', adaptive: 'adaptive draws' },
    figures: [
      { title: 'episodes', fields: ['episodes'] },
      { title: 'steps', fields: ['steps'] },
    ],
  },
  credit: {
    title: 'FrozenLake 4×4, firm ice: until 90 % of the episodes reach the goal',
    field: 'credit',
    names: {
      returns: 'returns',
      forks: 'forks',
      group: 'return of the episode in its group',
      trees: 'the same in trees',
      states: 'shared states too',
    },
    figures: [
      { title: 'episodes', fields: ['episodes'] },
      { title: 'steps, those of forks too', fields: ['steps', 'forkedSteps'] },
    ],
  },
} as const satisfies Readonly<Record<string, Ablation>>

/**
 * Draws the results of an experiment as an SVG: a panel for each figure, with a point for each seed that reached the
 * target, and the mean with its 95 % interval.
 */
export function drawAblation({ title, field, names, figures }: Ablation, results: readonly AblationResult[]) {
  const players = Object.values(names)
  const own = results.filter(({ episodes }) => episodes !== null)
  const panels = figures.map(({ title: axis, fields }) => {
    const values = own.map((result) => ({
      player: names[String(result[field])] ?? '',
      value: fields.reduce((sum, name) => sum + Number(result[name]), 0),
    }))
    const means = [...Map.groupBy(values, ({ player }) => player)].map(([player, group]) => ({
      player,
      ...estimateOf(group.map(({ value }) => value)),
    }))
    const y = { field: 'player', type: 'nominal', title: null, scale: { domain: players } } as const
    const x = { type: 'quantitative', title: axis, scale: { zero: true } } as const
    const color = {
      field: 'player',
      type: 'nominal',
      legend: null,
      scale: { domain: players, range: ['#868e96', '#0b6bcb'] },
    } as const
    return {
      width: 260,
      height: 90,
      layer: [
        {
          data: { values },
          mark: { type: 'point', filled: true, opacity: 0.45, size: 40 } as const,
          encoding: { x: { ...x, field: 'value' }, y, color },
        },
        {
          data: { values: means },
          mark: { type: 'rule', strokeWidth: 3 } as const,
          encoding: { x: { ...x, field: 'low' }, x2: { field: 'high' }, y, color },
        },
        {
          data: { values: means },
          mark: { type: 'tick', thickness: 3, size: 22 } as const,
          encoding: { x: { ...x, field: 'mean' }, y, color },
        },
      ],
    }
  })
  return draw({
    background: 'white',
    title,
    hconcat: panels,
    config: { font: 'sans-serif', axis: { grid: true, gridOpacity: 0.4 }, view: { stroke: null } },
  })
}
