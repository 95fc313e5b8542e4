import { join } from 'node:path'
import type { Split } from '@episodic/protocol'
import type { RunDetail } from '@episodic/report/view/run-entry'
import { z } from 'zod'
import { commandLine, shownPath, withOption } from '../base/console.ts'
import { toWords } from '../base/options.ts'
import type { RunConfiguration } from './plan/configuration.ts'
import {
  episodeOptions,
  policyOption,
  rewardOptions,
  samplingOptions,
  seatOptions,
  taskOptions,
} from './plan/plan-options.ts'
import type { RunManifest } from './record/run-folder.ts'

export interface RunPlace {
  readonly folder: string
  /** The folder of the set that it belongs to, absolute; `null` for a run of its own. */
  readonly setFolder: string | null
  readonly manifest: RunManifest
}

/**
 * Returns the command lines that show a run and replay it, and where they are known those that play the rest of it, and
 * its failed episodes again. They are shown, and never executed.
 */
export function commandsFor(
  run: RunPlace,
  {
    missing,
    failed,
    raise = [],
  }: { readonly missing: number; readonly failed: number; readonly raise?: readonly string[] | undefined },
): RunDetail['commands'] {
  const words = resumeWords(run)
  const path = shownPath(run.folder)
  return {
    ...(words && missing > 0 && { resume: commandLine(withOption(words, raise)) }),
    ...(words && failed > 0 && { retry: commandLine([...words, '--retry-failed']) }),
    report: commandLine(['report', path]),
    replay: commandLine(['replay', path]),
    view: commandLine(['view', path]),
  }
}

function resumeWords({ folder, setFolder, manifest }: RunPlace): string[] | null {
  if (setFolder !== null) return ['run', '--resume', shownPath(setFolder)]
  const { configuration, sources, played } = manifest
  const reference = sources?.world?.reference
  const isPlain = reference !== undefined && !/\p{Cc}|\p{Cf}/u.test(reference)
  if (!isPlain || (configuration.environment.system ?? 'episodic') !== 'episodic') return null
  if (configuration.curriculum?.kind === 'adaptive' || configuration.continues) return null
  const dataset = sources?.dataset ? shownPath(join(folder, sources.dataset)) : null
  const worker = played.transport === 'http' || played.transport === 'stdio' ? ['--transport', played.transport] : []
  const { modelOptions = [] } = played
  const given = [...planWords(configuration, dataset), ...worker, ...modelOptions]
  return ['run', reference, ...given, '--out', shownPath(folder), '--resume']
}

export const planOptions = z.object({
  ...taskOptions.shape,
  ...policyOption.shape,
  ...seatOptions.shape,
  ...samplingOptions.shape,
  ...episodeOptions.shape,
  ...rewardOptions.shape,
})

function planWords(configuration: RunConfiguration, dataset: string | null): string[] {
  const { tasks, policy, seats, focus, sampling, curriculum, ...rest } = configuration
  return toWords(planOptions, {
    ...rest,
    ...sampling,
    ...(tasks.from === 'dataset'
      ? { dataset: dataset ?? tasks.file }
      : { tasks: tasks.count, difficulty: tasks.difficulty }),
    split: tasks.split as Split | null,
    ...(seats
      ? { seat: Object.fromEntries(Object.entries(seats).map(([seat, { name }]) => [seat, name])), focus }
      : { policy: [policy.name] }),
    policyVersion: policy.version,
    ...(curriculum?.kind === 'staged' && { stages: curriculum.stages }),
  })
}
