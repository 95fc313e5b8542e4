import { randomPolicy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import {
  canonicalJson,
  contentId,
  type EpisodeRecord,
  type Json,
  type JsonObject,
  type LimitsRequest,
  type Task,
} from '@episodic/protocol'
import { isLlm } from '../policies.ts'
import { countLeaves } from '../run/count-leaves.ts'
import { tasksOf } from '../run/plan.ts'
import type { RunManifest } from '../run/run-folder.ts'
import type { World } from '../world.ts'
import { type Difference, findDifference } from './difference.ts'
import { expectedBranch, expectedPolicySeed } from './expected-branch.ts'
import { limitsOf, mostSteps, type TaskLimits } from './task-limits.ts'

/** What a run was to play, made anew from its `run.json` and its world: what every sealed line is compared with. */
export interface RecordedPlan {
  /** Distinct episodes. */
  readonly scheduled: number
  readonly limits: TaskLimits
  /** Whether the plan holds an episode of this task and attempt. */
  holds(record: Pick<EpisodeRecord, 'task' | 'attempt'>): boolean
  /** Whether a line says of its episode what the plan says. */
  fits(record: EpisodeRecord): boolean
  /** The first field in which each of these lines differs from the plan. Reads all tasks once more. */
  explain(records: readonly EpisodeRecord[]): Promise<(Difference | null)[]>
}

type Manifest = Pick<RunManifest, 'name' | 'configuration' | 'played'>

/**
 * Makes the plan of a run anew. Of each task it holds some 200 bytes: its id, its limits and a digest of the rest.
 *
 * Throws what the generator or the file of tasks throws.
 */
export async function recordedPlanOf(manifest: Manifest, world: World): Promise<RecordedPlan> {
  const { configuration } = manifest
  const { environment } = world
  const digests = new Map<string, string>()
  const limits = new Map<string, LimitsRequest>()
  const shared = new Map<string, LimitsRequest>()
  for await (const task of tasksOf(configuration, world)) {
    digests.set(task.id, digestOf(decidedByTask(environment, task)))
    const asked = limitsOf(task, configuration)
    const name = JSON.stringify(asked)
    // Most tasks have the same few limits.
    if (!shared.has(name)) shared.set(name, asked)
    limits.set(task.id, shared.get(name) ?? asked)
  }
  const attempts = configuration.rollouts * countLeaves(configuration.branch)
  const player = playerName(manifest, world)

  const compareBesides = (record: EpisodeRecord): Difference | null => {
    const { task, attempt, branch } = record
    if (!digests.has(task.id)) return { field: 'task.id', recorded: task.id, replayed: undefined }
    if (attempt >= attempts) return { field: 'attempt', recorded: attempt, replayed: `0 to ${attempts - 1}` }
    const place = { task: task.id, attempt, path: branch?.path ?? [] }
    return (
      findDifference(record.run, manifest.name, 'run') ??
      (player === null ? null : findDifference(record.policy.name, player, 'policy.name')) ??
      findDifference(branch, expectedBranch(configuration, place), 'branch') ??
      findDifference(record.policy.seed, expectedPolicySeed(configuration, place), 'policy.seed')
    )
  }
  /** For a record whose parameters are known to be the planned ones. */
  const compareSteps = (record: EpisodeRecord): Difference | null => {
    const most = mostSteps(environment, record, limits.get(record.task.id) ?? {})
    const { length } = record.steps
    return length > most ? { field: 'steps', recorded: length, replayed: `at most ${most}` } : null
  }

  return {
    scheduled: digests.size * attempts,
    limits,
    holds: ({ task, attempt }) => digests.has(task.id) && attempt < attempts,
    fits: (record) =>
      compareBesides(record) === null &&
      digestOf(decidedByLine(environment, record)) === digests.get(record.task.id) &&
      compareSteps(record) === null,
    async explain(records) {
      const wanted = new Set(records.map(({ task }) => task.id))
      const planned = new Map<string, Decided>()
      for await (const task of tasksOf(configuration, world))
        if (wanted.has(task.id)) planned.set(task.id, decidedByTask(environment, task))
      return records.map((record) => {
        const besides = compareBesides(record)
        if (besides) return besides
        const { params, seed, ...task } = decidedByLine(environment, record)
        const { params: plannedParams, seed: plannedSeed, ...plannedTask } = planned.get(record.task.id) as Decided
        return (
          findDifference(task, plannedTask, 'task') ??
          findDifference(params, plannedParams, 'params') ??
          findDifference(seed, plannedSeed, 'seed') ??
          compareSteps(record)
        )
      })
    },
  }
}

/** What a task decides and its lines say too. Its limits are a part of its id. */
interface Decided {
  readonly prompt: string
  readonly difficulty: number
  readonly split: string
  readonly tags: readonly string[]
  readonly params: JsonObject
  readonly seed: string
}

function decidedByTask(
  environment: EnvironmentDefinition,
  { prompt, difficulty, split, tags, params, seed }: Task,
): Decided {
  return { prompt, difficulty, split, tags, params: withDefaults(environment, params), seed }
}

function decidedByLine(environment: EnvironmentDefinition, { task, params, seed, start }: EpisodeRecord): Decided {
  const { prompt, difficulty, split, tags } = task
  // Only a world that opened has filled in its defaults.
  return { prompt, difficulty, split, tags, params: start ? params : withDefaults(environment, params), seed }
}

function withDefaults({ params: schema }: EnvironmentDefinition, params: JsonObject): JsonObject {
  const parsed = schema.safeParse(params)
  return parsed.success ? (parsed.data as JsonObject) : params
}

function digestOf(decided: Decided): string {
  return contentId(canonicalJson(decided as unknown as Json))
}

/** The name that lines give the policy; `null` where nothing but the lines says it. */
function playerName({ configuration, played }: Manifest, { solver, policies }: World): string | null {
  const { name } = configuration.policy
  if (name === 'random') return randomPolicy().name
  if (name === 'solver' && solver) return solver.name
  if (Object.hasOwn(policies, name)) return policies[name]?.name ?? null
  if (isLlm(name) || /^(script|process):/.test(name)) return name
  return played.player ?? null
}
