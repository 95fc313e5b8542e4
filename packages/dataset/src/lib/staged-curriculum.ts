import { createRng, seedFor, type Task } from '@episodic/protocol'
import { z } from 'zod'
import { assertInPool, basisOf, type Curriculum, createPool, restoreState } from './curriculum.ts'
import { DatasetError, optionsInvalid } from './dataset-error.ts'
import { assertKnown } from './define-tasks.ts'
import { assertRange, type DifficultyRange, isInRange } from './difficulty-range.ts'

export interface Stage {
  /** Unique among the stages, and part of the seed of its draws. */
  readonly name: string
  readonly difficulty: DifficultyRange
  readonly episodes: number
}

/** Describes stages, which are played in this order. Throws `options-invalid`. */
export function defineStages(stages: readonly Stage[]): readonly Stage[] {
  if (stages.length === 0) throw optionsInvalid('A curriculum needs at least one stage.')
  if (new Set(stages.map(({ name }) => name)).size < stages.length)
    throw optionsInvalid('Two stages have the same name; give each its own.')
  for (const { name, difficulty, episodes, ...others } of stages) {
    assertKnown({ name, difficulty, episodes }, { name, difficulty, episodes, ...others }, `Stage "${name}" has`)
    assertRange(difficulty, `Stage "${name}"`)
    if (!Number.isSafeInteger(episodes) || episodes < 1)
      throw optionsInvalid(`Stage "${name}" needs a whole number of episodes; got ${episodes}.`)
  }
  return stages
}

const stagedStateSchema = z.strictObject({ format: z.literal(1), basis: z.string(), draws: z.int().min(0) })

/** The saved state of a staged curriculum: which curriculum, and how many tasks were drawn. */
type StagedState = Readonly<z.infer<typeof stagedStateSchema>>

export interface StagedOptions {
  readonly seed: string
  /** A state from `save()`. Default: the start of the first stage. */
  readonly state?: StagedState | undefined
}

/**
 * Creates a curriculum of fixed stages. Each stage draws its tasks in a shuffled order, and shuffles again after the
 * last of them. After the last stage `next()` returns `null`. Outcomes have no effect.
 *
 * @throws DatasetError `pool-invalid` if a stage has no tasks, `state-invalid` if the state is from another curriculum.
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

/** Returns a function from n, from 0, to the n-th task of a stage: only a count has to be saved. */
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
