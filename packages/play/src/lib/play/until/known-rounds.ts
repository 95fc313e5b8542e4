import { join, resolve } from 'node:path'
import {
  createAttempts,
  type KnownBaseline,
  type Wanted,
  whenKnown,
  whyNeverKnown,
} from '@episodic/report/until/when-known'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { UNTIL } from '@episodic/run/base/option-values'
import { RUN_FILES, type RunManifest, readManifest } from '@episodic/run/folder/record/run-folder'
import { readSealed } from '@episodic/run/folder/record/sealed-file'
import { whatDiffers } from '@episodic/run/folder/set/same-tasks'

/**
 * Opens an account of the episodes of a run that says after which round enough is known. Rejects with `option-invalid`
 * if a limit has the unit of the other kind, or if a baseline is never known so well, and with `runs-differ` for one of
 * other tasks.
 */
export async function openKnownRounds(until: string, { configuration }: Pick<RunManifest, 'configuration'>) {
  const { points, way, limit, unit = '', baseline: folder } = UNTIL.exec(until)?.groups ?? {}
  const isNegative = limit?.startsWith('-') && unit === '%'
  if (way !== undefined && (isNegative || (unit === '%') === (folder !== undefined)))
    throw invalidOption(
      `--until ${until}: the limit of a rate is in % and not below 0, as >=80%, and that of the difference from a --baseline in points, as >=-3points.`,
    )
  const isDecision = way === '<' || way === '>'
  const wanted: Wanted = isDecision ? { way, limit: Number(limit) / 100 } : { half: Number(points) / 100 }
  const baseline = folder === undefined ? null : await readBaseline(folder, configuration)
  const never = baseline && whyNeverKnown(baseline, wanted)
  if (never) throw invalidOption(`--until ${until} cannot be reached: ${never}`)
  const attempts = createAttempts(configuration.focus)
  return { add: attempts.add, look: (round: number) => whenKnown(attempts.byTask(round), wanted, baseline) }
}

async function readBaseline(path: string, own: RunManifest['configuration']): Promise<KnownBaseline> {
  const folder = resolve(path)
  const { configuration, name } = await readManifest(folder)
  const differing = whatDiffers(configuration, own)
  if (differing.length > 0)
    throw new HarnessError('runs-differ', [
      `${path} is no baseline of this run, which plays something else:`,
      ...differing.map(([key, was, is]) => `  ${key}: ${was} in the baseline, ${is} here`),
    ])
  if (configuration.branch.length > 0)
    throw invalidOption(
      `${path} forks its rollouts (--branch), so it is no baseline of --until. Name one that does not.`,
    )
  const attempts = createAttempts(own.focus)
  for await (const record of readSealed(join(folder, RUN_FILES.episodes))) attempts.add(record)
  return { name, tasks: attempts.byTask() }
}
