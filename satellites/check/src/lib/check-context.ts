import { DatasetError, generateTasks, type TasksDefinition } from '@episodic/dataset'
import type { Policy } from '@episodic/env'
import { type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { canonicalJson, DEFAULT_LIMITS, type Json, type JsonObject, type Task } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import type { SessionState } from '@episodic/state'
import { isFrozenWhole } from '@episodic/state/internal'
import type { TimeLimit } from './time-limit.ts'

/** Only the environment is required; what it does not export limits what can be checked. */
export interface CheckedWorld {
  readonly environment: EnvironmentDefinition
  readonly tasks?: TasksDefinition | null
  readonly solver?: Policy | null
  readonly policies?: Readonly<Record<string, Policy>>
}

export interface Setting {
  readonly params: JsonObject
  readonly prompt: string
  readonly hints: readonly string[]
  readonly steps: number
  readonly task: Task | null
}

/** Whose play is compared with the solver's. */
export interface Learner {
  readonly seat: string
  readonly partners: Readonly<Record<string, Policy>>
}

export interface CheckContext {
  readonly world: CheckedWorld
  /** At least one. The defaults come first if the parameters have any; then tasks, the easiest first. */
  readonly settings: readonly Setting[]
  /** `null` in a game whose other seats nobody is named for. */
  readonly learner: Learner | null
  readonly seed: string
  readonly pairs: number
  readonly signal: AbortSignal | undefined
  readonly time: TimeLimit
  /** The steps that hacks are searched for. Default: some thousand. */
  readonly searchSteps?: number | undefined
  /**
   * Returns how many of so many starts are made, but no fewer than `least` of them: all, unless each has a large state
   * of its own, which has to be made, or steps run programs.
   */
  readonly affordable: (count: number, least: number) => number
  /** Returns how many of so many episodes are played: of those that are affordable, the share that was asked for. */
  readonly episodes: (count: number, least: number) => number
  readonly onProgress: (done: number, total: number) => void
}

/**
 * Returns the only seat of an environment, or the one that is left by those who play the others; `null` if nobody is
 * named for them. Throws `option-invalid` for a seat that does not exist, and unless exactly one is left.
 */
export function learnerOf(
  { name, multiplayer, seats }: CheckedWorld['environment'],
  partners: Readonly<Record<string, Policy>> = {},
): Learner | null {
  const named = Object.keys(partners)
  if (!multiplayer && named.length > 0) throw invalidOption(`${name} has one seat. Leave --seat out.`)
  const unknown = named.find((seat) => !seats.includes(seat))
  if (unknown !== undefined)
    throw invalidOption(
      `${name} has no seat "${unknown}". Its seats are: ${seats.join(', ')}. Write --seat ${seats[0]}=random.`,
    )
  const left = seats.filter((seat) => !named.includes(seat))
  if (left.length === 1) return { seat: left[0] as string, partners }
  if (named.length === 0) return null
  throw invalidOption(
    left.length === 0
      ? `--seat is given for every seat of ${name}. Leave one out: the one to check.`
      : `--seat leaves ${left.join(' and ')} of ${name}. Give it for all seats but one: the one to check.`,
  )
}

const TASKS = 12

/** No two have the same parameters. */
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

/** Bytes of a state that are made for each episode, up to which a check plays all its episodes. */
const OWN_BYTES = 16_384

/** The share of a world whose steps are prepared: programs take a hundred times as long as rules. */
const PREPARED_SHARE = 1 / 16

/** Returns which share of its episodes a check plays. Frozen values, which all episodes begin with, cost nothing. */
export function affordableShare({ environment }: CheckedWorld, settings: readonly Setting[], seed: string): number {
  const bytes = settings.map(({ params }) => ownBytes(rehearse(environment, { params, seed }).start.state))
  const isPrepared = Object.values(environment.tools).some(({ preparation }) => preparation)
  return Math.min(isPrepared ? PREPARED_SHARE : 1, OWN_BYTES / Math.max(...bytes))
}

function ownBytes({ public: open, own, private: hidden }: SessionState): number {
  const fields = [open, hidden, ...Object.values(own ?? {})].flatMap((part) => Object.values(part))
  return fields.reduce<number>((sum, field) => sum + (isFrozenWhole(field) ? 0 : JSON.stringify(field).length), 1)
}

function drawTasks(tasks: TasksDefinition | null, seed: string): Task[] {
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
