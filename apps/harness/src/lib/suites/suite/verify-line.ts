import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeTasks } from '@episodic/dataset/jsonl'
import { HarnessError } from '../../base/harness-error.ts'
import { findDifference } from '../../evaluate/replay/difference.ts'
import { openPlan } from '../../evaluate/replay/open-plan.ts'
import { replayRun } from '../../evaluate/replay/replay-run.ts'
import { differencesOf, type RunConfiguration, UNCHANGED } from '../../run-folder/plan/configuration.ts'
import { hashFile } from '../../run-folder/plan/content-hash.ts'
import { readRecorded } from '../../run-folder/read-recorded.ts'
import { assertFiles, RUN_FILES, type RunManifest, readManifest } from '../../run-folder/record/run-folder.ts'
import { isAgentName } from '../../worlds/policies.ts'
import type { World } from '../../worlds/world.ts'
import { lineTasks } from './line-tasks.ts'
import { foldLine, runFolder } from './play-line.ts'
import { compareLine, measureLine } from './run-suite.ts'
import type { PlayedLine, ScoredLine, SuiteLine, SuitePlan } from './suite-plan.ts'
import type { LineResult } from './suite-result.ts'

/**
 * Returns what is wrong with a line of a result, in sentences; an empty list if it holds. An exact figure is measured
 * again; the episodes of a played one are compared with the suite's tasks, replayed by the rules here, and folded
 * again.
 *
 * @param folder - of the result.
 */
export async function verifyLine(
  world: World,
  line: SuiteLine,
  claimed: LineResult,
  { plan, folder }: { readonly plan: SuitePlan; readonly folder: string },
): Promise<string[]> {
  if (line.kind === 'exact') return differences(claimed, measureLine(line))
  const run = join(folder, runFolder(world, line))
  try {
    await assertFiles(run, Object.values(RUN_FILES))
    const wrong = await verifyRun(world, line, plan, run)
    const fold = await foldLine(run, line.focus)
    const sealed = await hashFile(join(run, RUN_FILES.episodes))
    return [...wrong, ...differences(claimed, compareLine(line, { ...fold, sealed, run: runFolder(world, line) }))]
  } catch (error) {
    // Files that cannot be read, and lines of another version.
    if (HarnessError.is(error)) return [error.message]
    throw error
  }
}

function differences(claimed: LineResult, found: LineResult): string[] {
  const difference = findDifference(claimed, JSON.parse(JSON.stringify(found)))
  if (!difference) return []
  const { field, recorded, replayed } = difference
  return [`${field} is ${JSON.stringify(recorded)} in the result, and ${JSON.stringify(replayed)} here.`]
}

/** Compares a run with what the suite plays, and replays its episodes. */
async function verifyRun(
  world: World,
  line: PlayedLine | ScoredLine,
  plan: SuitePlan,
  folder: string,
): Promise<string[]> {
  const manifest = await readManifest(folder)
  const temporary = await mkdtemp(join(tmpdir(), 'episodic-suite-'))
  try {
    const dataset = join(temporary, 'tasks.jsonl')
    const { sha256 } = await writeTasks(dataset, lineTasks(world, line, plan))
    const wanted = configurationOf(world, line, plan, sha256, manifest)
    const changed = differencesOf(manifest.configuration, wanted)
    // Without the suite's tasks there is nothing to compare the lines with.
    if (changed.length > 0) return changed.map(([key, was, is]) => `run.json has ${key} ${was}, and the suite ${is}.`)
    const { environment } = world
    const { plan: recorded } = await openPlan({ folder, manifest, world }, dataset)
    const { diverged, episodes, conflicting, missing, divergences } = await replayRun(
      environment,
      readRecorded(join(folder, RUN_FILES.episodes)),
      {
        scoring: manifest.configuration,
        plan: recorded,
        scheduled: plan.episodes,
        declaredOnly: true,
        mayLeave: isAgentName(line.policy),
      },
    )
    const [first] = divergences
    return [
      ...(missing ? [`${missing} of ${plan.episodes} episodes are missing.`] : []),
      ...(conflicting > 0 ? [`${conflicting} lines conflict with another line of the same episode.`] : []),
      ...(diverged > 0 && first
        ? [
            `${diverged} of ${episodes} episodes differ from their replay; the first, task ${first.task}, in ${first.field}: ${first.meaning}`,
          ]
        : []),
    ]
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

/**
 * The configuration with which the suite plays a line. Only the content of a policy's file and a model's sampling are
 * free.
 */
function configurationOf(
  { environment: { name, version } }: World,
  line: PlayedLine | ScoredLine,
  { seed }: SuitePlan,
  tasks: string,
  { configuration: { policy, seats = {}, sampling } }: RunManifest,
): RunConfiguration {
  return {
    environment: { name, version },
    tasks: { from: 'dataset', file: '', sha256: tasks, split: null },
    policy: { name: line.policy, sha256: policy.sha256 },
    ...(line.seats &&
      line.focus !== null && {
        seats: Object.fromEntries(
          Object.entries(line.seats).map(([seat, name]) => [seat, { name, sha256: seats[seat]?.sha256 ?? null }]),
        ),
        focus: line.focus,
      }),
    sampling,
    ...UNCHANGED,
    seed,
  }
}
