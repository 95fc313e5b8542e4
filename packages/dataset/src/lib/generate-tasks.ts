import { createRng, type JsonObject, seedFor, type Task } from '@episodic/protocol'
import { assertNoProblems, checkParams, checkShape } from './check-task.ts'
import { DatasetError, optionsInvalid } from './dataset-error.ts'
import { assertKnown, DRAFT, type TaskDraft, type TasksDefinition } from './define-tasks.ts'
import { assertRange, type DifficultyRange } from './difficulty-range.ts'
import { assertRatios, DEFAULT_SPLITS, type SplitRatios, splitOf } from './split.ts'
import { toolNames } from './task-environment.ts'
import { taskId } from './task-id.ts'

export interface GenerateOptions {
  /** The same seed returns the same rows. */
  readonly seed: string
  /** How many distinct rows to make; fewer if the family is a list of fewer. */
  readonly count: number
  /** The range of `difficulty` in the generator's context. Default: 0 to 1. */
  readonly difficulty?: DifficultyRange
  /** Default: {@link DEFAULT_SPLITS}. */
  readonly splits?: SplitRatios
}

/** Consecutive repeats after which a generator counts as exhausted. */
const MOST_REPEATS = 1_000

/**
 * Yields the rows of a family. Each is made when it is requested.
 *
 * A row depends on the seed, the family's name, the range of difficulty and its index, but not on the count: a longer
 * dataset begins with the shorter one. Repeated rows are skipped. Memory is constant, except for the ids of rows whose
 * author set the seed: other rows cannot repeat.
 *
 * @throws DatasetError at once `options-invalid`; while iterating `task-invalid` if a draft is not a valid task, and
 * `exhausted` after 1 000 consecutive repeats.
 */
export function generateTasks(tasks: TasksDefinition, options: GenerateOptions): Generator<Task, void, undefined> {
  const { count, difficulty = [0, 1], splits = DEFAULT_SPLITS } = options
  if (!Number.isSafeInteger(count) || count < 0)
    throw optionsInvalid(`A count of tasks is a whole number from 0 up; got ${count}.`)
  assertRange(difficulty, 'generateTasks')
  assertRatios(splits)
  return distinctTasks(tasks, { seed: options.seed, count: Math.min(count, tasks.count ?? count), difficulty, splits })
}

function* distinctTasks(
  tasks: TasksDefinition,
  { seed, count, difficulty, splits }: Required<GenerateOptions>,
): Generator<Task, void, undefined> {
  const repeatable = new Set<string>()
  let made = 0
  let repeats = 0
  for (let index = 0; made < count; index++) {
    const { task, ownSeed } = taskAt(tasks, index, { seed, difficulty, splits })
    if (ownSeed && repeatable.has(task.id)) {
      if (++repeats < MOST_REPEATS) continue
      throw new DatasetError(
        'exhausted',
        `${count} tasks of "${tasks.name}" were asked for, but after ${made} the next ${repeats} were all repeats. ` +
          'Ask for fewer, or let the generator vary more.',
        { details: { made } },
      )
    }
    if (ownSeed) repeatable.add(task.id)
    repeats = 0
    made += 1
    yield task
  }
}

function taskAt(
  tasks: TasksDefinition,
  index: number,
  { seed, difficulty: [low, high], splits }: Required<Omit<GenerateOptions, 'count'>>,
): { readonly task: Task; readonly ownSeed: boolean } {
  const rowSeed = seedFor(seed, tasks.name, index)
  // Not the row's seed itself, from which the environment draws: the two must not draw the same numbers.
  const rng = createRng(seedFor(rowSeed, 'generate'))
  const difficulty = low + rng.stream('difficulty').float() * (high - low)
  const draft = tasks.generate({ rng, index, difficulty })
  const where = `Row ${index} of "${tasks.name}"`
  assertKnown(DRAFT, draft, `${where} has`)
  const { name, version } = tasks.environment
  const unhashed: Task = {
    id: 'to be computed',
    environment: { name, version },
    ...(draft.server === undefined ? {} : { server: draft.server }),
    tools: toolNames(tasks.environment),
    prompt: draft.prompt,
    hints: draft.hints ?? [],
    ...(draft.seats && { seats: instructionsOf(draft.seats) }),
    params: paramsOf(tasks, draft, where),
    seed: draft.seed ?? rowSeed,
    difficulty: draft.difficulty,
    limits: draft.limits ?? {},
    split: 'train',
    tags: draft.tags ?? [],
    metadata: draft.metadata ?? {},
  }
  assertNoProblems(checkShape(unhashed), where)
  const task = { ...unhashed, id: taskId(unhashed), split: splitOf(unhashed, splits) }
  return { task, ownSeed: draft.seed !== undefined }
}

function instructionsOf(seats: NonNullable<TaskDraft['seats']>): Task['seats'] {
  const all = Object.entries(seats).map(([seat, { prompt, hints = [] }]) => [seat, { prompt, hints }] as const)
  return Object.fromEntries(all)
}

function paramsOf({ environment }: TasksDefinition, draft: TaskDraft, where: string): JsonObject {
  if (!environment.params) return draft.params as JsonObject
  const { params, problems } = checkParams(environment.params, draft.params)
  assertNoProblems(problems, where)
  return params as JsonObject
}
