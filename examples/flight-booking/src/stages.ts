import type { Rng } from '@episodic/protocol'
import type { Demands } from './goal.ts'
import { TROUBLES } from './trip.ts'

/** A stage of the curriculum: up to which difficulty it goes, and what it asks for at least and at most. */
export interface Stage {
  readonly name: string
  readonly until: number
  readonly digressions: readonly [least: number, most: number]
  readonly constraints: readonly [least: number, most: number]
  readonly troubles: readonly (typeof TROUBLES)[number][]
}

/** First the bare trip, then questions on the way, then all that can come between. */
export const STAGES: readonly Stage[] = [
  { name: 'stage-1', until: 1 / 3, digressions: [0, 0], constraints: [0, 0], troubles: ['none'] },
  { name: 'stage-2', until: 2 / 3, digressions: [1, 2], constraints: [0, 1], troubles: ['none'] },
  { name: 'stage-3', until: 1, digressions: [2, 4], constraints: [1, 3], troubles: TROUBLES },
]

/** The stage of a difficulty. */
export function stageOf(difficulty: number): Stage {
  return STAGES.find(({ until }) => difficulty < until) ?? (STAGES.at(-1) as Stage)
}

/** Draws what a goal of a stage asks for. */
export function drawDemands(rng: Rng, { digressions, constraints }: Stage): Demands {
  return { digressions: rng.int(...digressions), constraints: rng.int(...constraints) }
}

/** What reports group by: the stage, and how many digressions and constraints there are. */
export function tagsOf({ name }: Stage, { digressions, constraints }: Demands): string[] {
  return [name, `digressions-${digressions}`, `constraints-${constraints}`]
}
