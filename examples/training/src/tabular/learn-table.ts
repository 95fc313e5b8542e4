import { type Rng, seedFor } from '@episodic/protocol'
import { type Actor, actionAt } from '../episodes/actor.ts'
import { cpuTime } from '../episodes/cpu-time.ts'
import type { Rollouts } from '../episodes/rollouts.ts'
import type { Progress } from '../learner/learn.ts'
import type { Numbers } from '../network/network.ts'
import type { World } from '../worlds/world.ts'
import { createTabularLearner, type TabularStep } from './tabular-learner.ts'

export interface TableOptions {
  readonly world: World
  readonly rollouts: Rollouts
  readonly settings: {
    readonly episodes: number
    readonly batch: number
    readonly discount: number
    readonly rate: number
  }
  /** Everything that is drawn follows from it. */
  readonly seed: string
}

/**
 * Trains a policy in a table by REINFORCE, whose baseline is the mean of the returns from the same state so far, and
 * yields after each batch, as `learn` does with a network. For worlds whose input has a 1 in the place of the state.
 */
export async function* learnTable({
  world,
  rollouts,
  settings,
  seed,
}: TableOptions): AsyncGenerator<Pick<Progress, 'rollout' | 'spent'> & { readonly played: number }> {
  const learner = createTabularLearner('tabular', world.actions, (observation) => stateOf(world.encode(observation)))
  const baseline = new Map<string, { sum: number; count: number }>()
  const actor: Actor = {
    act: (inputs, rngs) =>
      inputs.map((input, place) => {
        if (!input) return null
        const probabilities = learner.probabilities(stateOf(input))
        return rngs
          ? actionAt(probabilities, (rngs[place] as Rng).float())
          : probabilities.indexOf(Math.max(...probabilities))
      }),
  }
  for (let played = 0; played < settings.episodes; ) {
    const seeds = Array.from({ length: Math.min(settings.batch, settings.episodes - played) }, (_, at) => ({
      environment: seedFor(seed, 'training episode', played + at),
      actions: seedFor(seed, 'actions', played + at),
    }))
    const began = cpuTime()
    const rollout = await rollouts.play(actor, seeds)
    const environment = cpuTime() - began - rollout.acting
    const learned: TabularStep[] = []
    for (const { inputs, actions, rewards } of rollout.trajectories) {
      let earned = 0
      for (let at = inputs.length - 1; at >= 0; at--) {
        earned = (rewards[at] as number) + settings.discount * earned
        const state = stateOf(inputs[at] as Numbers)
        const known = baseline.get(state) ?? { sum: 0, count: 0 }
        const advantage = earned - (known.count > 0 ? known.sum / known.count : 0)
        baseline.set(state, { sum: known.sum + earned, count: known.count + 1 })
        learned.push({ state, action: actions[at] as number, advantage: advantage / seeds.length })
      }
    }
    learner.learn(learned, settings.rate)
    played += seeds.length
    yield { played, rollout, spent: { environment, network: cpuTime() - began - environment } }
  }
}

function stateOf(input: Numbers): string {
  return String(input.indexOf(1))
}
