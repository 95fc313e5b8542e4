import type { Rng } from '@episodic/protocol'
import type { Demands } from './goal.ts'
import { TROUBLES } from './trip.ts'

/** A stage of the tasks: its highest difficulty, and the ranges of digressions and constraints. */
export interface Stage {
  readonly name: string
  readonly until: number
  readonly digressions: readonly [least: number, most: number]
  readonly constraints: readonly [least: number, most: number]
  readonly troubles: readonly (typeof TROUBLES)[number][]
}

/** First only the trip, then questions, then trouble as well. */
export const STAGES: readonly Stage[] = [
  { name: 'stage-1', until: 1 / 3, digressions: [0, 0], constraints: [0, 0], troubles: ['none'] },
  { name: 'stage-2', until: 2 / 3, digressions: [1, 2], constraints: [0, 1], troubles: ['none'] },
  { name: 'stage-3', until: 1, digressions: [2, 4], constraints: [1, 3], troubles: TROUBLES },
]

/** Returns the stage of a difficulty. */
export function stageOf(difficulty: number): Stage {
  return STAGES.find(({ until }) => difficulty < until) ?? (STAGES.at(-1) as Stage)
}

/** Draws the numbers of digressions and constraints for a stage. */
export function drawDemands(rng: Rng, { digressions, constraints }: Stage): Demands {
  return { digressions: rng.int(...digressions), constraints: rng.int(...constraints) }
}

/** Returns the tags that reports group by: the stage, and the numbers of digressions and constraints. */
export function tagsOf({ name }: Stage, { digressions, constraints }: Demands): string[] {
  return [name, `digressions-${digressions}`, `constraints-${constraints}`]
}
