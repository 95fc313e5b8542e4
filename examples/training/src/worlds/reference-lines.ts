import { solver as frozenLakeSolver } from '@episodic/classics/frozen-lake'
import { gameTree, transitionTable, valueIteration } from '@episodic/classics/solve'
import { solver as taxiSolver } from '@episodic/classics/taxi'
import type { Connection, Policy } from '@episodic/env'
import { randomPolicy, runEpisode } from '@episodic/env'
import { seedFor } from '@episodic/protocol'
import type { WorldName } from '../hyperparameters.ts'
import { taskOf, type World } from './world.ts'
import { WORLDS } from './worlds.ts'

/** What a learning curve is compared with, in the unit of its returns. */
export interface ReferenceLines {
  /** Random play: uniform over the actions. */
  readonly random: number
  /** The solver of the world, on the held-out seeds. In a game it plays an equilibrium. */
  readonly solver: number
  /** The most that any policy can be expected to earn. */
  readonly optimum: number
}

const SOLVERS: Readonly<Record<Exclude<WorldName, 'kuhn-poker'>, Policy>> = {
  'frozen-lake': frozenLakeSolver,
  taxi: taxiSolver,
}

/**
 * Computes the optimum from the rules of the world: by value iteration over the table of its transitions, and for a
 * game from its tree. Plays random moves and the solver on the seeds of the evaluation.
 */
export async function referenceLines(
  connection: Connection,
  name: WorldName,
  episodes: number,
): Promise<ReferenceLines> {
  const world = WORLDS[name]
  const { environment, params } = world
  if (name === 'kuhn-poker') {
    const tree = gameTree(environment, params)
    // Nobody gains against an equilibrium.
    return { random: -tree.nashConv(tree.uniform) / 2, solver: 0, optimum: 0 }
  }
  const play = async (policy: Policy): Promise<number> => {
    let total = 0
    for (let i = 0; i < episodes; i++) {
      const seed = seedFor('curves', 'episode', i)
      const createEnvironment = () => connection.environment(environment.name)
      const episode = await runEpisode({ createEnvironment, policy, task: taskOf(world), seed, policySeed: seed })
      if (episode.kind === 'failed') throw episode.cause
      for (const { reward } of episode.steps) total += reward.total
    }
    return total / episodes
  }
  return {
    random: await play(randomPolicy()),
    solver: await play(SOLVERS[name]),
    optimum: optimumOf(world),
  }
}

/** Returns the expected return of the best policy within the limit of steps, by value iteration. */
function optimumOf({ environment, params, steps }: World): number {
  const table = transitionTable(environment, { params })
  return valueIteration(table, { steps: steps ?? table.steps }).start
}
