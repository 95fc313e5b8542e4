import { defineTasks, generateTasks } from '@episodic/dataset'
import { defaultTasks } from '@episodic/play/worlds/default-tasks'
import type { World } from '@episodic/play/worlds/world'
import { canonicalJson, type JsonObject, type Task } from '@episodic/protocol'
import type { SuiteLine, SuitePlan } from './suite-plan.ts'

/**
 * Generates the tasks of a played line: one for each episode, with a seed of its own. Lines with equal parameters have
 * the same tasks. Throws the errors of the world's generator, `exhausted` if it has too few tasks.
 */
export function lineTasks(
  world: World,
  { params }: Pick<SuiteLine, 'params'>,
  { seed, episodes }: Pick<SuitePlan, 'seed' | 'episodes'>,
): Generator<Task> {
  const tasks = params === null ? (world.tasks ?? defaultTasks(world)) : tasksWith(world, params)
  return generateTasks(tasks, { seed, count: episodes })
}

/** A family of tasks with these parameters, and the prompt that the world's own tasks with them have. */
function tasksWith(world: World, params: JsonObject) {
  const { environment } = world
  const { prompt = environment.description, hints = [], tags = [], difficulty = 0 } = ownTask(world, params) ?? {}
  const generate = () => ({ prompt, hints, tags, difficulty, params })
  return defineTasks({ name: `${environment.name} ${canonicalJson(params)}`, environment, generate })
}

/** Enough drafts to meet each of a few stages of difficulty. */
const DRAFTS = 64

function ownTask({ tasks, environment }: World, params: JsonObject): Task | undefined {
  if (!tasks) return undefined
  const wanted = canonicalJson(environment.params.parse(params) as JsonObject)
  // Stages without chance have one task each, so there may be fewer than asked for.
  const drafts = Array.from({ length: DRAFTS }, (_, i) => i / (DRAFTS - 1)).flatMap((difficulty) => [
    ...generateTasks(tasks, { seed: 'prompt', count: 1, difficulty: [difficulty, difficulty] }),
  ])
  return drafts.find((task) => canonicalJson(task.params) === wanted)
}
