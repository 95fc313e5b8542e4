import { createRng, seedFor, type Task } from '@episodic/protocol'
import { z } from 'zod'
import { assertInPool, basisOf, type Curriculum, createPool, restoreState } from './curriculum.ts'
import { DatasetError } from './dataset-error.ts'
import { assertRange, type DifficultyRange, isInRange } from './difficulty-range.ts'

/** One stage: tasks of a range of difficulty, for a number of episodes. */
export interface Stage {
  /** Unique among the stages; part of the seed of what the stage draws. */
  readonly name: string
  readonly difficulty: DifficultyRange
  readonly episodes: number
}

/** Describes stages that are played in their order. Throws `options-invalid`. */
export function defineStages(stages: readonly Stage[]): readonly Stage[] {
  if (stages.length === 0) throw new DatasetError('options-invalid', 'A curriculum needs at least one stage.')
  if (new Set(stages.map(({ name }) => name)).size < stages.length)
    throw new DatasetError('options-invalid', 'Two stages have the same name; give each its own.')
  for (const { name, difficulty, episodes } of stages) {
    assertRange(difficulty, `Stage "${name}"`)
    if (!Number.isSafeInteger(episodes) || episodes < 1)
      throw new DatasetError('options-invalid', `Stage "${name}" needs a whole number of episodes; got ${episodes}.`)
  }
  return stages
}

const stagedStateSchema = z.strictObject({ format: z.literal(1), basis: z.string(), draws: z.int().min(0) })

/** Where a staged curriculum stands: how many tasks were drawn, of which curriculum. */
export type StagedState = Readonly<z.infer<typeof stagedStateSchema>>

export interface StagedOptions {
  readonly seed: string
  /** What `save()` returned. Default: the beginning. */
  readonly state?: StagedState | undefined
}

/**
 * Creates a curriculum of fixed stages. Each stage plays its tasks in a shuffled order, and shuffles again when all
 * of them were played; after the last stage `next()` gives `null`. Outcomes change nothing.
 *
 * @throws DatasetError `pool-invalid` when a stage has no tasks, `state-invalid` when the state is not this one's.
 */
export function createStagedCurriculum(
  stages: readonly Stage[],
  tasks: readonly Task[],
  { seed, state }: StagedOptions,
): Curriculum<StagedState> {
  const pool = createPool(tasks)
  const plan = defineStages(stages).map((stage) => ({ stage, draw: createDraw(stage, pool, seed) }))
  const basis = basisOf(pool, {
    seed,
    stages: stages.map(({ name, difficulty, episodes }) => ({ name, difficulty, episodes })),
  })
  let draws = state ? restoreState(stagedStateSchema, state, basis).draws : 0
  return {
    next() {
      let before = 0
      for (const { stage, draw } of plan) {
        if (draws < before + stage.episodes) return draw(draws++ - before)
        before += stage.episodes
      }
      return null
    },
    observe: (taskId) => assertInPool(pool, taskId),
    save: () => ({ format: 1, basis, draws }),
  }
}

/** The n-th task of a stage, from 0. Any n can be asked for, so a count is all that has to be saved. */
function createDraw({ name, difficulty }: Stage, pool: ReadonlyMap<string, Task>, seed: string): (n: number) => Task {
  const eligible = [...pool.values()].filter((task) => isInRange(task.difficulty, difficulty))
  if (eligible.length === 0)
    throw new DatasetError(
      'pool-invalid',
      `Stage "${name}" has no tasks: none has a difficulty from ${difficulty[0]} to ${difficulty[1]}.`,
    )
  let shuffled = { pass: -1, tasks: eligible }
  return (n) => {
    const pass = Math.floor(n / eligible.length)
    if (shuffled.pass !== pass)
      shuffled = { pass, tasks: createRng(seedFor(seed, 'stage', name, pass)).shuffle(eligible) }
    return shuffled.tasks[n % eligible.length] as Task
  }
}
