import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeReport } from '@episodic/pages/file/write-report'
import { runAlone } from '@episodic/play/play/complete-run'
import { joinRun } from '@episodic/play/play/find-run'
import { runSettingsSchema } from '@episodic/play/play/run-settings'
import { isServed, type PlayedWorld } from '@episodic/play/worlds/served-world'
import type { World } from '@episodic/play/worlds/world'
import type { Anchor, Anchors } from '@episodic/report/anchors/anchor-schema'
import type { Summary } from '@episodic/report/fold/summary'
import { type Console, say, shownPath } from '@episodic/run/base/console'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { mapValues } from '@episodic/run/base/map-values'
import { isAgentName, isLlm } from '@episodic/run/base/player-names'
import { anchorsCommand } from '@episodic/run/folder/anchors/anchors-file'
import type { RunConfiguration } from '@episodic/run/folder/plan/configuration'
import { findSealed } from '@episodic/run/folder/read-recorded'
import { foldRun } from '@episodic/run/folder/record/report-run'
import {
  defaultFolder,
  freeFolder,
  holdsRun,
  isComplete,
  RUN_FILES,
  readManifest,
  writeRunFile,
} from '@episodic/run/folder/record/run-folder'
import { whatDiffers } from '@episodic/run/folder/set/same-tasks'
import { findDataset } from '../replay/open-plan.ts'
import { loadRecordedWorld } from '../replay/recorded-world.ts'

/** Of these policies, the first that a world has. What random play earns is a floor where none does nothing. */
const POLICIES = { floor: ['nothing', 'random'], oracle: ['solver'] } as const

/**
 * Measures floor and oracle on the tasks of a run, each once, and writes them into its folder. A run of theirs that
 * lies beside it, as in its set, is taken if it was played to its end on the same tasks of the same version; otherwise
 * they are played into folders beside it.
 *
 * Rejects as {@link assertMeasured} throws, with `version-mismatch`, and as `loadRecordedWorld` and `runAlone` do.
 */
async function measureAnchors(folder: string, signal: AbortSignal, console: Console): Promise<void> {
  const sealed = await findSealed(folder)
  const manifest = sealed.manifest ?? (await readManifest(folder))
  const { environment } = manifest.configuration
  assertMeasured(manifest.configuration, shownPath(folder))
  const world = await loadRecordedWorld(sealed, undefined, (notice) => say(console.err, notice))
  const { name, version, utility } = world.environment
  if (name !== environment.name || version !== environment.version)
    throw new HarnessError(
      'version-mismatch',
      `${shownPath(folder)} was played in ${environment.name} ${environment.version}, and the world here is ${name} ${version}. Floor and oracle are those of the version that was played.`,
    )
  const at = await findDataset({ folder, manifest }, undefined)
  if ('unknown' in at) throw new HarnessError('dataset-invalid', at.unknown)
  const beside = await findBeside(folder)
  const measure = async (policies: readonly string[]): Promise<Anchor | null> => {
    const policy = policies.find((one) => hasPolicy(world, one))
    if (policy === undefined) return null
    const wanted = configurationOf({ ...manifest.configuration, tasks: at.tasks }, policy, utility)
    const isSame = (other: RunConfiguration) => other.policy.name === policy && whatDiffers(wanted, other).length === 0
    const found = beside.find(({ configuration }) => isSame(configuration))?.folder
    const run = found ?? resolve(await freeFolder(join(dirname(resolve(folder)), basename(defaultFolder(wanted)))))
    if (found === undefined) {
      const place = { given: fileURLToPath(world.url), world, named: null }
      const joined = await joinRun(wanted, place, runSettingsSchema.parse({}))
      const playing = { folder: run, resume: holdsRun(run), signal, resumeLine: () => anchorsCommand(folder) }
      const { stopped } = await runAlone(joined, playing, console)
      if (stopped) throw stopped
      signal.throwIfAborted()
    }
    const { success } = (await foldRun(run, await readManifest(run))).summarize()
    return { policy, run: relative(resolve(folder), run), ...success.overall }
  }
  const anchors: Anchors = { format: 1, floor: await measure(POLICIES.floor), oracle: await measure(POLICIES.oracle) }
  await writeRunFile(folder, RUN_FILES.anchors, `${JSON.stringify(anchors, null, 2)}\n`)
}

/** Throws `option-invalid` for a run that has no floor and no oracle: of a server of another system, or with stages. */
export function assertMeasured({ continues, curriculum }: RunConfiguration, name: string, world?: PlayedWorld): void {
  const isElsewhere = world !== undefined && isServed(world)
  const why = isElsewhere ? 'is on a server of another system' : 'does not play each of its tasks alike'
  if (isElsewhere || continues || curriculum) throw invalidOption(`${name} ${why}, so it has no floor and no oracle.`)
}

function hasPolicy({ solver, policies }: World, name: string): boolean {
  return name === 'random' || (name === 'solver' ? solver !== null : Object.hasOwn(policies, name))
}

/**
 * Other seats keep who plays them. Where all seats earn alike, and where a model or an agent plays another one, the
 * policy plays every seat.
 */
function configurationOf(
  { until: _, ...own }: RunConfiguration,
  name: string,
  utility: World['environment']['utility'],
): RunConfiguration {
  const policy = { name, sha256: null }
  const { seats, focus } = own
  const isCostly = Object.entries(seats ?? {}).some(
    ([seat, { name }]) => seat !== focus && (isLlm(name) || isAgentName(name)),
  )
  const isOwn = (seat: string) => seat === focus || isCostly || utility === 'common'
  const playing = seats && mapValues(seats, (other, seat) => (isOwn(seat) ? policy : other))
  return { ...own, policy, ...(playing && { seats: playing }), sampling: null, rollouts: 1, branch: [] }
}

/** Measures floor and oracle of a run, and writes its report with them. Rejects as {@link measureAnchors} does. */
export async function reportAnchors(folder: string, signal: AbortSignal, console: Console): Promise<Summary> {
  await measureAnchors(folder, signal, console)
  return writeReport(folder, await foldRun(folder, await readManifest(folder)))
}

/** Finds the runs beside a run that were played to their end. */
async function findBeside(folder: string) {
  const above = dirname(resolve(folder))
  const found: { readonly folder: string; readonly configuration: RunConfiguration }[] = []
  for (const name of (await readdir(above)).sort()) {
    const other = join(above, name)
    if (!existsSync(join(other, RUN_FILES.manifest)) || !(await isComplete(other))) continue
    const manifest = await readManifest(other).catch(() => null)
    if (manifest) found.push({ folder: other, configuration: manifest.configuration })
  }
  return found
}
