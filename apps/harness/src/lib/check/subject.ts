import { DatasetError, generateTasks } from '@episodic/dataset'
import { canonicalJson, DEFAULT_LIMITS, type Json, type JsonObject, type Task } from '@episodic/protocol'
import type { World } from '../world.ts'
import type { AgentDoor } from './endpoints/agent-endpoint.ts'

/** A world as it is checked: what it does not export is checked as far as that goes. */
export type CheckedWorld = Pick<World, 'environment'> & Partial<World>

/** One way in which a world is set up: its defaults, or what a task of its own asks for. */
export interface Setting {
  readonly params: JsonObject
  readonly prompt: string
  readonly hints: readonly string[]
  /** Answered steps until the episode is cut off. */
  readonly steps: number
  /** The task that it comes from; `null` for the defaults. */
  readonly task: Task | null
}

/** What every check is given. */
export interface Subject {
  readonly world: CheckedWorld
  /** At least one. The defaults come first, where the parameters have any; then tasks, the easiest first. */
  readonly settings: readonly Setting[]
  readonly seed: string
  readonly pairs: number
  readonly doors: readonly AgentDoor[]
  readonly signal: AbortSignal | undefined
  /** Hears of what is done of a check that takes its time. */
  readonly onProgress: (done: number, total: number) => void
}

/** How many tasks are drawn to set a world up by. */
const TASKS = 12

/** The settings under which a world is checked, no two of the same parameters. */
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
  // An even spread over all difficulties, so that the easiest and the hardest are among them.
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
