import { describedPolicy } from '@episodic/models/policy/described-policy'
import { completeRun } from '@episodic/play/play/complete-run'
import { joinRun, type Run } from '@episodic/play/play/find-run'
import { configureRun } from '@episodic/play/play/plan/configure-run'
import type { PlanRunOptions } from '@episodic/play/play/plan-run'
import type { PlayRunOptions } from '@episodic/play/play/play-run'
import type { ReportedRun } from '@episodic/play/play/report-run'
import type { RunSettings } from '@episodic/play/play/run-settings'
import { HarnessError } from '@episodic/run/base/harness-error'
import { mapValues } from '@episodic/run/base/map-values'
import type { Continues, RunConfiguration } from '@episodic/run/folder/plan/configuration'
import { holdsRun, runIdOf } from '@episodic/run/folder/record/run-folder'
import { openOrigins } from '../origin/open-origins.ts'
import { ancestorsOf, type OriginLine, writeOrigins } from '../origin/origins-file.ts'
import { assertChanges, assertPoint } from './assert-request.ts'
import type { Parent, Point } from './parent.ts'

export interface ContinueRequest {
  /** Each is continued `settings.rollouts` times. */
  readonly points: readonly Point[]
  readonly changes: Continues['changes']
  readonly settings: RunSettings
}

/**
 * Continues episodes of an earlier run in a run of their own, or plays the missing continuations of one, and reports
 * it. Nothing is written into the earlier run.
 *
 * Rejects with `option-invalid` for a step that there is not, or a change that the world cannot take; with
 * `not-forkable` for a player that cannot be put back; and as `completeRun` does.
 */
export async function continueRun(
  parent: Parent,
  request: ContinueRequest,
  options: PlanRunOptions & PlayRunOptions,
): Promise<ReportedRun> {
  return playContinued(await findContinued(parent, request), parent, request, options)
}

/** Plays or resumes what {@link findContinued} has found. */
export async function playContinued(
  run: Run,
  parent: Parent,
  { points }: ContinueRequest,
  options: PlanRunOptions & PlayRunOptions,
): Promise<ReportedRun> {
  // A folder holds a run once its manifest is there, which is written last.
  if (!holdsRun(options.folder)) await writeOrigins(options.folder, linesOf(parent, points))
  return completeRun(run, options)
}

/** Finds the run that continues points. Rejects as {@link continueRun} does, and writes nothing. */
export async function findContinued(parent: Parent, request: ContinueRequest): Promise<Run> {
  const { manifest, world } = parent
  const { points, changes, settings } = request
  assertChanges(world.environment, changes)
  for (const point of points) assertPoint(point, changes)
  const configuration: RunConfiguration = {
    ...(await configureRun(world, settings)),
    // The tasks are those of the lines that it continues.
    tasks: manifest.configuration.tasks,
    continues: {
      run: runIdOf(manifest),
      points: points.map(({ task, record: { attempt, seal }, step }) => ({
        ...{ task: task.id, attempt },
        ...{ seal: seal as string, step },
      })),
      changes,
    },
  }
  const reference = manifest.sources?.world?.reference ?? world.environment.name
  const run = await joinRun(configuration, { given: reference, world, named: null }, settings)
  if (run.isPlayedByAgent)
    throw new HarnessError(
      'not-forkable',
      'An agent keeps a memory of its own, so it cannot go on from a step. Policies, solvers, scripts and llm:<model> can: give one with --policy, or with --seat.',
    )
  const { describe } = changes
  const players = mapValues(run.players, (player) =>
    describe && 'start' in player ? describedPolicy(player, describe) : player,
  )
  return {
    ...run,
    players,
    continued: { points: planOf(request), originOf: openOrigins(parent, points, settings.maxSteps) },
  }
}

function planOf({ points, changes: { seed, call, answer, prompt } }: ContinueRequest) {
  const counts = new Map<string, number>()
  return points.map(({ task, record, step }) => {
    const attempt = counts.get(task.id) ?? 0
    counts.set(task.id, attempt + 1)
    const changed = { ...(call && { call }), ...(answer !== undefined && { answer }) }
    const origin = { seal: record.seal as string, step, seed: seed ?? null, ...changed }
    return { task: prompt === undefined ? task : { ...task, prompt }, attempt, origin }
  })
}

/** Returns the lines that points go on from, and those that these go on from, each once. */
function linesOf({ origins }: Parent, points: readonly Point[]): Iterable<OriginLine> {
  const lines = new Map<string, OriginLine>()
  const add = (line: OriginLine) => lines.set(line.record.seal as string, line)
  for (const { record } of points) for (const line of ancestorsOf(record, origins)) add(line)
  // A line that is continued itself has its task.
  for (const { task, record } of points) add({ task, record })
  return lines.values()
}
