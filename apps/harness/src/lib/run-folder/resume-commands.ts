import { join } from 'node:path'
import type { RunDetail } from '@episodic/report'
import { commandLine, shownPath } from '../base/console.ts'
import type { RunConfiguration } from './plan/configuration.ts'
import { curriculumWords } from './plan/curriculum-settings.ts'
import type { RunManifest } from './record/run-folder.ts'

/** Where a run is. */
export interface RunPlace {
  /** Absolute. */
  readonly folder: string
  /** The folder of the set that it belongs to, absolute; `null` for a run of its own. */
  readonly setFolder: string | null
  readonly manifest: RunManifest
}

/**
 * Returns the command lines that play the rest of a run, and its failed episodes again, where they are known. They are
 * shown, and never executed.
 */
export function resumeCommandsFor(
  run: RunPlace,
  { missing, failed }: { readonly missing: number; readonly failed: number },
): RunDetail['commands'] {
  const words = resumeWords(run)
  if (!words) return {}
  return {
    ...(missing > 0 && { resume: commandLine(words) }),
    ...(failed > 0 && { retry: commandLine([...words, '--retry-failed']) }),
  }
}

/** The words of the command that plays the missing episodes; `null` if they are not known. */
function resumeWords({ folder, setFolder, manifest }: RunPlace): string[] | null {
  if (setFolder !== null) return ['run', '--resume', shownPath(setFolder)]
  const { configuration, sources, played } = manifest
  const reference = sources?.world?.reference
  const isPlain = reference !== undefined && !/\p{Cc}|\p{Cf}/u.test(reference)
  if (!isPlain || (configuration.environment.system ?? 'episodic') !== 'episodic') return null
  const dataset = sources?.dataset ? shownPath(join(folder, sources.dataset)) : null
  const worker = played.transport === 'http' || played.transport === 'stdio' ? ['--transport', played.transport] : []
  const { modelOptions = [] } = played
  const given = [...optionsOf(configuration, dataset), ...worker, ...modelOptions]
  return ['run', reference, ...given, '--out', shownPath(folder), '--resume']
}

/** The options that give a configuration again, without those that have their defaults. */
function optionsOf(configuration: RunConfiguration, dataset: string | null): string[] {
  const {
    tasks,
    policy,
    seats,
    focus,
    sampling,
    rollouts,
    curriculum,
    branch,
    maxSteps,
    episodeTimeout,
    weights,
    shaping,
    discount,
    seed,
  } = configuration
  const option = (name: string, value: string | number | null | undefined, usual?: string | number) =>
    value === null || value === undefined || value === usual ? [] : [`--${name}`, String(value)]
  const weighted = Object.entries(weights).map(([term, weight]) => `${term}=${weight}`)
  return [
    ...(tasks.from === 'dataset'
      ? option('dataset', dataset ?? tasks.file)
      : [...option('tasks', tasks.count), ...option('difficulty', tasks.difficulty.join('..'), '0..1')]),
    ...option('split', tasks.split),
    ...(seats
      ? Object.entries(seats).flatMap(([seat, { name }]) => ['--seat', `${seat}=${name}`])
      : option('policy', policy.name)),
    ...option('focus', seats && focus),
    ...option('policy-version', policy.version),
    ...option('temperature', sampling?.temperature),
    ...option('max-tokens', sampling?.maxTokens),
    ...option('token-budget', sampling?.tokenBudget),
    ...option('rollouts', rollouts, 1),
    ...(curriculum ? curriculumWords(curriculum) : []),
    ...option('branch', branch.map(({ lines, at }) => `${lines}@${at}`).join(','), ''),
    ...option('max-steps', maxSteps),
    ...option('episode-timeout', episodeTimeout),
    ...option('weights', weighted.join(','), ''),
    ...(shaping ? ['--shaping'] : []),
    ...option('discount', discount, 1),
    ...option('seed', seed, '0'),
  ]
}
