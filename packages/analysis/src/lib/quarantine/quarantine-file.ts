import { basename } from 'node:path'
import { cleanText, plural } from '@episodic/report/text/format'
import { HarnessError } from '@episodic/run/base/harness-error'
import { parseJson } from '@episodic/run/base/json'
import { option } from '@episodic/run/base/options'
import { readTextFile } from '@episodic/run/base/text-file'
import { countLeaves } from '@episodic/run/folder/plan/configuration'
import { z } from 'zod'
import type { UnreadRun } from '../compare/compare-with-baseline.ts'
import type { ComparedRun } from '../compare/compared-run.ts'
import type { TaskHistory } from './task-histories.ts'

/**
 * Why a task says nothing of players: `never` solved by any of them, `always` by all, it `flips` between rollouts of
 * the same player, or every episode of it `fails`.
 */
const REASONS = ['never', 'always', 'flips', 'fails'] as const
type Reason = (typeof REASONS)[number]

/** What is read of a quarantine file: tasks that figures may leave out, each with its reason. */
const quarantineSchema = z.object({
  format: z.literal(1),
  environment: z.object({ name: z.string(), version: z.string() }),
  tasks: z.array(z.object({ task: z.string(), reason: z.enum(REASONS) })),
})

/** Episodes that a task needs for a reason. */
const LEAST = 4

/** @param most - the share of pairs of rollouts that flip, above which all of the interval of a task has to be. */
export function proposeQuarantine(histories: readonly TaskHistory[], most: number) {
  return histories.flatMap((history) => {
    const { finished, successes, failed, flips: flipped } = history
    const holds: Record<Reason, boolean> = {
      never: finished >= LEAST && successes === 0,
      always: finished >= LEAST && successes === finished,
      flips: finished >= LEAST && flipped !== null && flipped.low > most,
      fails: failed >= LEAST && finished === 0,
    }
    const reason = REASONS.find((one) => holds[one])
    return reason ? [{ ...history, reason }] : []
  })
}

export type LeftOut = NonNullable<ReturnType<typeof readQuarantine>>

/** Reads a quarantine file, if one is given, and what figures say of it. Throws `option-invalid` for another one. */
export function readQuarantine(path: string | undefined) {
  if (path === undefined) return undefined
  const { environment, tasks } = parseJson(
    quarantineSchema,
    () => readTextFile(path),
    'option-invalid',
    `--without ${path} is no quarantine`,
  )
  const reasons = REASONS.flatMap((reason) => {
    const count = tasks.filter((task) => task.reason === reason).length
    return count > 0 ? [`${count} ${reason}`] : []
  })
  const file = basename(path)
  const ids = new Set(tasks.map(({ task }) => task))
  return {
    ...{ file, environment, ids, json: { leftOut: { file, tasks: [...ids] } } },
    note: `${plural(ids.size, 'task')} of ${file} left out: ${reasons.join(', ') || 'none'}.`,
  }
}

export const withoutOption = option('<file>', 'leave out the tasks of a quarantine: see episodic dataset quarantine')

/** Throws `runs-differ` for a quarantine of another environment, or of another version of it. */
export function assertQuarantineOf({ file, environment: own }: LeftOut, run: ComparedRun['manifest']): void {
  const { name, version } = own
  const { environment } = run.configuration
  if (environment.name === name && environment.version === version) return
  throw new HarnessError(
    'runs-differ',
    `${file} is of ${name} ${version}, and ${cleanText(run.name)} of ${environment.name} ${environment.version}.`,
  )
}

/** Returns a run without tasks of a quarantine, and without its plan for them. Throws as {@link assertQuarantineOf}. */
export function leaveOut<Read extends ComparedRun | UnreadRun>(run: Read, quarantine: LeftOut | undefined): Read {
  if (!quarantine || !('tasks' in run)) return run
  const { manifest } = run
  assertQuarantineOf(quarantine, manifest)
  const tasks = new Map([...run.tasks].filter(([id]) => !quarantine.ids.has(id)))
  const { rollouts, branch } = manifest.configuration
  const ofTask = Math.min(rollouts * countLeaves(branch), manifest.scheduled / Math.max(1, run.tasks.size))
  const left = [...run.tasks].flatMap(([id, { plays }]) => (tasks.has(id) ? [] : [Math.max(plays.size, ofTask)]))
  const scheduled = Math.max(0, Math.round(left.reduce((sum, planned) => sum - planned, manifest.scheduled)))
  return { ...run, tasks, manifest: { ...manifest, scheduled } }
}
