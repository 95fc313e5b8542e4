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
import { RUN_FILES, readManifest } from '@episodic/run/folder/record/run-folder'
import { readSealed } from '@episodic/run/folder/record/sealed-file'
import { ownSeats, whatDiffers } from '@episodic/run/folder/set/same-tasks'
import { isServed } from '../../worlds/served-world.ts'
import type { Run } from '../find-run.ts'

type KnownOptions = Pick<Run, 'configuration'> & Partial<Pick<Run, 'world'>>

/**
 * Opens an account of the episodes of a run that says after which round enough is known. Rejects with `option-invalid`
 * if a limit has the unit of the other kind or a baseline cannot decide it, and with `runs-differ` for other tasks.
 */
export async function openKnownRounds(until: string, asked: KnownOptions) {
  const { points, way, limit, unit = '', baseline: folder } = UNTIL.exec(until)?.groups ?? {}
  const isNegative = limit?.startsWith('-') && unit === '%'
  if (way !== undefined && (isNegative || (unit === '%') === (folder !== undefined)))
    throw invalidOption(
      `--until ${until}: the limit of a rate is in % and not below 0, as >=80%, and that of the difference from a --baseline in points, as >=-3points.`,
    )
  const isDecision = way === '<' || way === '>'
  const wanted: Wanted = isDecision ? { way, limit: Number(limit) / 100 } : { half: Number(points) / 100 }
  const baseline = folder === undefined ? null : await readBaseline(folder, asked)
  const never = baseline && whyNeverKnown(baseline, wanted)
  if (never) throw invalidOption(`--until ${until} cannot be reached: ${never}`)
  const attempts = createAttempts(asked.configuration.focus)
  return { add: attempts.add, look: (round: number) => whenKnown(attempts.byTask(round), wanted, baseline) }
}

async function readBaseline(path: string, { configuration: own, world }: KnownOptions): Promise<KnownBaseline> {
  const folder = resolve(path)
  const { configuration, name } = await readManifest(folder)
  const lines = whatDiffers(configuration, own).map(([key, was, is]) => `  ${key}: ${was} in the baseline, ${is} here`)
  const title = `${path} is no baseline of this run, which plays something else:`
  if (lines.length > 0) throw new HarnessError('runs-differ', [title, ...lines])
  // One seat wins what another loses, so all seats of self-play together earn the same with any player.
  const isZeroSum = world && !isServed(world) && world.environment.utility === 'zero-sum'
  const other = ownSeats(configuration, own).find((seat) => seat !== own.focus)
  if (isZeroSum && other)
    throw invalidOption(
      `${path} is self-play, and so is this run: where one seat wins what another loses, that says what a seat is worth, and not who plays better. Give both runs the same player there, as --seat ${other}=random.`,
    )
  if (configuration.branch.length > 0)
    throw invalidOption(`${path} forks its rollouts (--branch), so it is no baseline. Name one that does not.`)
  const attempts = createAttempts(own.focus)
  for await (const record of readSealed(join(folder, RUN_FILES.episodes))) attempts.add(record)
  return { name, tasks: attempts.byTask() }
}
