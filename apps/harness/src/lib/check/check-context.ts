import { DatasetError, generateTasks } from '@episodic/dataset'
import { canonicalJson, DEFAULT_LIMITS, type Json, type JsonObject, type Task } from '@episodic/protocol'
import type { World } from '../worlds/world.ts'
import type { AgentEndpoint } from './endpoints/agent-endpoint.ts'

/** A world to check. Only the environment is required; what it does not export limits what can be checked. */
export type CheckedWorld = Pick<World, 'environment'> & Partial<World>

/** One configuration of a world: its default parameters, or those of one of its tasks. */
export interface Setting {
  readonly params: JsonObject
  readonly prompt: string
  readonly hints: readonly string[]
  /** Step limit of an episode. */
  readonly steps: number
  /** The task that it is taken from; `null` for the defaults. */
  readonly task: Task | null
}

/** The input of every check. */
export interface CheckContext {
  readonly world: CheckedWorld
  /** At least one. The defaults come first if the parameters have any; then tasks, the easiest first. */
  readonly settings: readonly Setting[]
  readonly seed: string
  readonly pairs: number
  readonly endpoints: readonly AgentEndpoint[]
  readonly signal: AbortSignal | undefined
  /** Called with the progress of a long check. */
  readonly onProgress: (done: number, total: number) => void
}

/** How many tasks are drawn as settings. */
const TASKS = 12

/** The settings under which a world is checked. No two have the same parameters. */
export function settingsOf({ environment, tasks }: CheckedWorld, seed: string): Setting[] {
  const settings = new Map<string, Setting>()
  const add = (given: JsonObject, task: Task | null) => {
    const parsed = environment.params.safeParse(given)
    if (!parsed.success) return
    const params = parsed.data as JsonObject
    const key = canonicalJson(params as Json)
    const own = environment.limitsFor(params).steps ?? DEFAULT_LIMITS.steps
    const steps = Math.min(own, task?.limits.steps ?? own)
    const { prompt = environment.description, hints = [] } = task ?? {}
    if (!settings.has(key)) settings.set(key, { params, prompt, hints, steps, task })
  }
  add({}, null)
  for (const task of drawTasks(tasks ?? null, seed)) add(task.params, task)
  return [...settings.values()]
}

function drawTasks(tasks: World['tasks'], seed: string): Task[] {
  if (!tasks) return []
  const drawn: Task[] = []
  // Evenly spread over all difficulties, the easiest and the hardest included.
  for (let i = 0; i < TASKS; i++) {
    const difficulty = i / (TASKS - 1)
    try {
      drawn.push(...generateTasks(tasks, { seed: `${seed}-${i}`, count: 1, difficulty: [difficulty, difficulty] }))
    } catch (error) {
      if (!DatasetError.is(error, 'exhausted')) throw error
    }
  }
  return drawn
}
