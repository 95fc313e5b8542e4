import { type Console, type resumeCommand, say } from '@episodic/run/base/console'
import { HarnessError } from '@episodic/run/base/harness-error'
import { holdsRun } from '@episodic/run/folder/record/run-folder'
import type { Run } from './find-run.ts'
import { type PlanRunOptions, planRun } from './plan-run.ts'
import { type PlayRunOptions, playRun } from './play-run.ts'
import { showProgress } from './record/progress.ts'
import { type ReportedRun, reportRun } from './report-run.ts'

/** Takes a run that was found through its other phases: plans it, plays what is missing, and reports. */
export async function completeRun(run: Run, options: PlanRunOptions & PlayRunOptions): Promise<ReportedRun> {
  const { folder, resume, signal } = options
  const planned = await planRun(run, { folder, resume, signal })
  await using played = await playRun(planned, options)
  return await reportRun(played)
}

export interface RunAloneOptions extends PlanRunOptions, Pick<PlayRunOptions, 'openRunner'> {
  readonly resumeLine: typeof resumeCommand
}

/**
 * Completes a run, with its progress and its notices on the console, and after a full disk how to resume it. Rejects as
 * {@link completeRun} does.
 */
export async function runAlone(
  run: Run,
  { resumeLine, ...options }: RunAloneOptions,
  { err }: Pick<Console, 'err'>,
): Promise<ReportedRun> {
  try {
    return await completeRun(run, {
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
  { folder, summary, stopped, raise }: ReportedRun,
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
