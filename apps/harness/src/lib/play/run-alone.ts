import { fileURLToPath } from 'node:url'
import { type Console, type resumeCommand, say } from '@episodic/runs/base/console'
import { HarnessError } from '@episodic/runs/base/harness-error'
import type { RunConfiguration } from '@episodic/runs/folder/plan/configuration'
import { holdsRun } from '@episodic/runs/folder/record/run-folder'
import type { World } from '../worlds/world.ts'
import { type PlayedRun, type PlayRunOptions, playRun } from './play-run.ts'
import { configureRun, type PreparedRun, prepareRun } from './prepare-run.ts'
import { showProgress } from './record/progress.ts'
import { type RunSettings, runSettingsSchema } from './run-settings.ts'

export interface RunAloneOptions extends Pick<PlayRunOptions, 'folder' | 'resume' | 'signal' | 'openRunner'> {
  /** Returns the command line that plays the rest of the run. */
  readonly resumeLine: typeof resumeCommand
}

export interface PartOptions {
  /** Settings of the runs that do not decide what is played: concurrency, transport, the model's server. */
  readonly settings: Partial<RunSettings>
  /** Returns the command line that plays the rest of all. */
  readonly resume: () => string
  readonly signal: AbortSignal
}

/**
 * Plays the missing episodes of a run that is a part of something larger, whose results have its summary. Resolves with
 * whether all were played; rejects as {@link runAlone} does, and with what {@link concludeRun} throws.
 */
export async function playPart(
  folder: string,
  world: World,
  asked: Partial<RunSettings>,
  { settings, resume, signal }: PartOptions,
  console: Pick<Console, 'err'>,
): Promise<boolean> {
  const prepared = await prepareRun(fileURLToPath(world.url), runSettingsSchema.parse({ ...settings, ...asked }))
  const options = { folder, resume: holdsRun(folder), signal, resumeLine: resume }
  return concludeRun(await runAlone(prepared, await configureRun(prepared), options, console), resume, console)
}

/** Plays a run as {@link playRun} does. Writes its progress and its notices, and after a full disk how to resume it. */
export async function runAlone(
  prepared: PreparedRun,
  configuration: RunConfiguration,
  { resumeLine, ...options }: RunAloneOptions,
  { err }: Pick<Console, 'err'>,
): Promise<PlayedRun> {
  try {
    return await playRun(prepared, configuration, {
      ...options,
      warn: (notice) => say(err, notice),
      showProgress: (scheduled, done, describe) => showProgress(err, scheduled, done, { describe }),
    })
  } catch (error) {
    if (HarnessError.is(error, 'disk-failed') && holdsRun(options.folder))
      err.write(`When there is space again, resume with:\n  ${resumeLine(options.folder)}\n`)
    throw error
  }
}

/**
 * Returns whether a run has played all of its episodes, and otherwise writes how to resume it. Throws what stopped it,
 * and `run-failed` if no episode finished.
 */
export function concludeRun(
  { folder, summary, stopped, raise }: PlayedRun,
  resumeLine: typeof resumeCommand,
  { err }: Pick<Console, 'err'>,
): boolean {
  const { counts, failures } = summary
  if (counts.unresolved > 0) {
    err.write(`${episodesLeft(counts.unresolved, raise)}\n  ${resumeLine(folder, raise)}\n`)
    if (stopped) throw stopped
    return false
  }
  if (counts.finished === 0)
    throw new HarnessError('run-failed', `No episode finished. ${failures[0]?.name}: ${failures[0]?.message}`)
  return true
}

/** Says how many episodes are left, before the line that plays them. */
export function episodesLeft(count: number, raise: readonly string[]): string {
  return `${count} episodes are left. To play them${raise.length > 0 ? ', with a higher limit' : ''}:`
}
