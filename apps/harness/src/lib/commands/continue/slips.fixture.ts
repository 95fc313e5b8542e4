import type { Policy } from '@episodic/env'
import { type Action, createRng, type JsonObject } from '@episodic/protocol'

interface Slips {
  /** The chance of a wrong action at each step. */
  readonly chance: number
  /** A wrong action at one step of the first `planted`, and at no other. Default: none. */
  readonly planted?: number
  /** The wrong action in an episode of a task. */
  readonly wrong: (params: JsonObject) => Action
}

/** A policy that does what another one does, but for wrong actions. */
export function slipping(solver: Policy, { chance, planted, wrong }: Slips): Policy {
  return {
    name: 'slipping',
    async start(context) {
      const player = await solver.start(context)
      const rng = createRng(context.seed).stream('slips')
      let step = 0
      return async (observation, view) => {
        step += 1
        const action = await player(observation, view)
        const isWrong = rng.chance(chance) || (planted !== undefined && step === plantedStep(context.seed, planted))
        return isWrong ? wrong(context.task.params) : action
      }
    },
  }
}

/** Returns the step, from 1, at which a policy with this seed plays its planted action. */
export function plantedStep(seed: string, planted: number): number {
  return createRng(seed).stream('planted').int(1, planted)
}
