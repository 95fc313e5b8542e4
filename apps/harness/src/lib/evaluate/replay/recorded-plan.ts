import { mostSteps } from '@episodic/analysis/replay/compare-ends'
import { type Difference, findDifference } from '@episodic/analysis/replay/difference'
import { ancestorsOf, type OriginLine } from '@episodic/continue/origin/origins-file'
import { randomPolicy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { absenceOf } from '@episodic/mcp-server/internal'
import { countLeavesBefore, limitsOf, policySeedOf, tasksOf } from '@episodic/play/play/plan/plan'
import { planStages } from '@episodic/play/play/plan/staged-plan'
import type { World } from '@episodic/play/worlds/world'
import {
  canonicalJson,
  contentId,
  type EpisodeRecord,
  isMatchRecord,
  type Json,
  type JsonObject,
  type LimitsRequest,
  type MatchRecord,
  type SealedRecord,
  seedFor,
  type Task,
} from '@episodic/protocol'
import { hasStarted } from '@episodic/report/seats/seat-record'
import { isLlm } from '@episodic/run/base/player-names'
import { type Continues, countLeaves, type RunConfiguration } from '@episodic/run/folder/plan/configuration'
import type { Stages } from '@episodic/run/folder/plan/curriculum-settings'
import { episodeKey } from '@episodic/run/folder/plan/planned-episode'
import type { RunManifest } from '@episodic/run/folder/record/run-folder'

/** The plan of a run, computed again from its `run.json` and its world. Every sealed line is compared with it. */
export interface RecordedPlan {
  readonly scheduled: number
  readonly limits: ReadonlyMap<string, LimitsRequest>
  holds(record: Pick<SealedRecord, 'task' | 'attempt'>): boolean
  fits(record: SealedRecord): boolean
  /** The first field in which each of these lines differs from the plan. Reads all tasks once more. */
  explain(records: readonly SealedRecord[]): Promise<(Difference | null)[]>
}

type Manifest = Pick<RunManifest, 'name' | 'configuration' | 'played'>

/**
 * Computes the plan of a run again. Takes about 200 bytes per task: its id, its limits and a digest of the rest. With
 * stages, its tasks stay in memory, and some 150 bytes of each rollout.
 *
 * Throws the errors of the generator or of the file of tasks.
 */
export async function readRecordedPlan(
  manifest: Manifest,
  world: World,
  origins: ReadonlyMap<string, OriginLine> = new Map(),
): Promise<RecordedPlan> {
  const { configuration } = manifest
  const { environment } = world
  const { continues } = configuration
  const digests = new Map<string, string>()
  const limits = new Map<string, LimitsRequest>()
  const shared = new Map<string, LimitsRequest>()
  const tasks = () => (continues ? continuedTasks(continues, origins) : tasksOf(configuration, world))
  for await (const task of tasks()) {
    digests.set(task.id, digestOf(decidedByTask(environment, task)))
    const asked = limitsOf(task, configuration.maxSteps)
    const name = JSON.stringify(asked)
    // Most tasks have the same few limits.
    if (!shared.has(name)) shared.set(name, asked)
    limits.set(task.id, shared.get(name) ?? asked)
  }
  const { curriculum } = configuration
  const leaves = countLeaves(configuration.branch)
  const attempts = configuration.rollouts * leaves
  const pointsOf = continues && Map.groupBy(continues.points, ({ task }) => task)
  const attemptsOf = (task: string) => attempts * (pointsOf ? (pointsOf.get(task)?.length ?? 0) : 1)
  const originOf = ({ task, attempt }: SealedRecord): SealedRecord['origin'] => {
    const point = pointsOf?.get(task.id)?.[Math.floor(attempt / attempts)]
    if (!continues || !point) return undefined
    const { call, answer, seed } = continues.changes
    const { seal, step } = point
    return {
      ...{ seal, step, seed: seed === undefined ? null : seedFor(seed, task.id, attempt) },
      ...(call && { call }),
      ...(answer !== undefined && { answer }),
    }
  }
  const drawn = curriculum?.kind === 'staged' ? await drawAgain(curriculum, configuration, world) : null
  const placeOf = ({ task, attempt }: Pick<SealedRecord, 'task' | 'attempt'>) =>
    drawn?.get(episodeKey({ task, attempt: Math.floor(attempt / leaves) }))
  const holds = (record: Pick<SealedRecord, 'task' | 'attempt'>) =>
    digests.has(record.task.id) && (drawn ? placeOf(record) !== undefined : record.attempt < attemptsOf(record.task.id))
  /** The name that lines give the policy; `null` if only the lines name it. */
  const player = policyName(configuration.policy.name, world) ?? manifest.played.player ?? null

  const comparePlayers = (record: SealedRecord): Difference | null => {
    if (isMatchRecord(record)) return compareSeats(configuration, record, world)
    const { task, attempt, branch, policy } = record
    const place = { task: task.id, attempt, path: branch?.path ?? [], try: record.try }
    return (
      (player === null ? null : findDifference(policy.name, player, 'policy.name')) ??
      findDifference(branch, expectedBranch(configuration, place), 'branch') ??
      findDifference(policy.seed, expectedPolicySeed(configuration, place), 'policy.seed')
    )
  }
  const compareBesides = (record: SealedRecord): Difference | null => {
    const { task, attempt } = record
    if (!digests.has(task.id)) return { field: 'task.id', recorded: task.id, replayed: undefined }
    if (!holds(record))
      return { field: 'attempt', recorded: attempt, replayed: drawn ? undefined : `0 to ${attemptsOf(task.id) - 1}` }
    return (
      findDifference(record.run, manifest.name, 'run') ??
      findDifference(record.curriculum, placeOf(record), 'curriculum') ??
      findDifference(record.origin, originOf(record), 'origin') ??
      comparePlayers(record)
    )
  }
  const compareSteps = (record: SealedRecord): Difference | null => {
    const most = mostSteps(environment, record, limits.get(record.task.id) ?? {})
    const length = stepsOfOneSeat(record)
    return length > most ? { field: 'steps', recorded: length, replayed: `at most ${most}` } : null
  }

  return {
    scheduled: drawn ? drawn.size * leaves : (continues?.points.length ?? digests.size) * attempts,
    limits,
    holds,
    fits: (record) =>
      compareBesides(record) === null &&
      digestOf(decidedByLine(environment, record, origins)) === digests.get(record.task.id) &&
      compareSteps(record) === null,
    async explain(records) {
      const wanted = new Set(records.map(({ task }) => task.id))
      const planned = new Map<string, Decided>()
      for await (const task of tasks()) if (wanted.has(task.id)) planned.set(task.id, decidedByTask(environment, task))
      return records.map((record) => {
        const besides = compareBesides(record)
        if (besides) return besides
        const { params, seed, ...task } = decidedByLine(environment, record, origins)
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

/** The tasks of the lines that a run continues, each once, as it changes them. */
async function* continuedTasks({ points, changes }: Continues, origins: ReadonlyMap<string, OriginLine>) {
  const known = new Set<string>()
  for (const { seal } of points) {
    const task = origins.get(seal)?.task
    if (!task || known.has(task.id)) continue
    known.add(task.id)
    yield changes.prompt === undefined ? task : { ...task, prompt: changes.prompt }
  }
}

async function drawAgain(stages: Stages, configuration: RunConfiguration, world: World) {
  const drawn = new Map<string, SealedRecord['curriculum']>()
  for await (const planned of await planStages(stages, configuration, tasksOf(configuration, world)))
    drawn.set(episodeKey(planned), planned.curriculum)
  return drawn
}

/** The parts of a task that its lines repeat. Its limits are part of its id. */
interface Decided extends Pick<Task, 'prompt' | 'difficulty' | 'split' | 'tags' | 'params' | 'seed'> {
  readonly seats?: { readonly [seat: string]: string }
}

function decidedByTask(
  environment: EnvironmentDefinition,
  { prompt, difficulty, split, tags, params, seed, seats = {} }: Task,
): Decided {
  const prompts = Object.entries(seats).map(([seat, own]) => [seat, own.prompt] as const)
  const decided = { prompt, difficulty, split, tags, params: withDefaults(environment, params), seed }
  return prompts.length > 0 ? { ...decided, seats: Object.fromEntries(prompts) } : decided
}

function decidedByLine(
  environment: EnvironmentDefinition,
  record: SealedRecord,
  origins: ReadonlyMap<string, OriginLine>,
): Decided {
  const { task, params } = record
  // What goes on from an earlier episode was opened with the seed of that one.
  const { seed } = ancestorsOf(record, origins).at(-1)?.record ?? record
  const { prompt, difficulty, split, tags } = task
  // Only a world that opened has filled in its defaults.
  const decided = {
    prompt,
    difficulty,
    split,
    tags,
    params: hasStarted(record) ? params : withDefaults(environment, params),
    seed,
  }
  const prompts = isMatchRecord(record)
    ? Object.entries(record.seats).flatMap(([seat, own]) => (own.prompt === undefined ? [] : [[seat, own.prompt]]))
    : []
  return prompts.length > 0 ? { ...decided, seats: Object.fromEntries(prompts) } : decided
}

function withDefaults({ params: schema }: EnvironmentDefinition, params: JsonObject): JsonObject {
  const parsed = schema.safeParse(params)
  return parsed.success ? (parsed.data as JsonObject) : params
}

function digestOf(decided: Decided): string {
  return contentId(canonicalJson(decided as unknown as Json))
}

/** The own name of the policy that a run names so; `null` if it is not known without loading it. */
function policyName(name: string, { solver, policies }: World): string | null {
  if (name === 'random') return randomPolicy().name
  if (name === 'solver' && solver) return solver.name
  if (Object.hasOwn(policies, name)) return policies[name]?.name ?? null
  if (isLlm(name) || /^(script|process):/.test(name)) return name
  return null
}

function compareSeats({ seed, seats = {} }: RunConfiguration, record: MatchRecord, world: World): Difference | null {
  for (const [seat, { policy }] of Object.entries(record.seats)) {
    const planned = seats[seat]
    if (!planned) return { field: `seats.${seat}`, recorded: seat, replayed: Object.keys(seats) }
    const name = policyName(planned.name, world)
    const ownSeed = seedFor(policySeedOf(seed, record), seat)
    const difference =
      (name === null ? null : findDifference(policy.name, name, `seats.${seat}.policy.name`)) ??
      findDifference(policy.seed, ownSeed, `seats.${seat}.policy.seed`)
    if (difference) return difference
  }
  return null
}

/**
 * Returns the step count of the seat with the most steps, not counting steps that the server took on a seat's behalf.
 */
function stepsOfOneSeat(record: SealedRecord): number {
  if (!isMatchRecord(record)) return record.steps.filter(({ action }) => !absenceOf(action)).length
  const played = record.steps.filter(({ action }) => !absenceOf(action))
  return Math.max(0, ...Object.keys(record.seats).map((name) => played.filter(({ seat }) => seat === name).length))
}

type Planned = Pick<RunConfiguration, 'seed' | 'branch'>

/** An episode of a run, and its path of lines in the tree; empty without a tree. */
interface EpisodePath {
  readonly task: string
  readonly attempt: number
  readonly path: readonly number[]
  readonly try: number
}

function expectedBranch(
  { seed, branch: points }: Planned,
  { task, attempt, path }: EpisodePath,
): EpisodeRecord['branch'] {
  if (points.length === 0 || path.length > points.length) return null
  if (path.some((line, i) => line >= (points[i]?.lines ?? 0))) return null
  const leaves = countLeaves(points)
  const rollout = Math.floor(attempt / leaves)
  const copies = countLeaves(points.slice(path.length))
  const first = rollout * leaves + countLeavesBefore(path, points)
  if (attempt < first || attempt >= first + copies) return null
  const branchSeed = seedFor(seed, 'branch', task, rollout)
  const seeds = path.map((line, i) =>
    line === 0 ? null : seedFor(seedFor(branchSeed, 'point', ...path.slice(0, i)), 'fork', line - 1),
  )
  return { rollout, leaves, copies, path, at: path.map((_, i) => points[i]?.at ?? 0), seeds }
}

/** Returns the policy seed of an episode. Each fork has its own, which its own first line keeps. */
function expectedPolicySeed(
  { seed, branch: points }: Planned,
  { task, attempt, path, try: number }: EpisodePath,
): string {
  const rollout = Math.floor(attempt / countLeaves(points))
  const own = policySeedOf(seed, { task: { id: task }, attempt: rollout, try: number })
  const forked = path.findLastIndex((line) => line !== 0)
  return forked < 0 ? own : seedFor(own, 'line', ...path.slice(0, forked + 1))
}
