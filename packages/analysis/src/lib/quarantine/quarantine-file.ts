import { basename } from 'node:path'
import { cleanText, plural } from '@episodic/report/text/format'
import { HarnessError } from '@episodic/run/base/harness-error'
import { parseJson } from '@episodic/run/base/json'
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
export const REASONS = ['never', 'always', 'flips', 'fails'] as const
type Reason = (typeof REASONS)[number]

/** The content of a quarantine file: tasks that figures may leave out, each with its reason, and what was seen. */
const quarantineSchema = z.strictObject({
  format: z.literal(1),
  environment: z.strictObject({ name: z.string(), version: z.string() }),
  /** The names of the runs, and what a task needs for its reason. */
  runs: z.array(z.string()),
  rules: z.strictObject({ least: z.int(), flips: z.number() }),
  tasks: z.array(
    z.strictObject({
      task: z.string(),
      reason: z.enum(REASONS),
      runs: z.int(),
      finished: z.int(),
      successes: z.int(),
      failed: z.int(),
      flips: z.strictObject({ rate: z.number(), low: z.number(), high: z.number() }).nullable(),
    }),
  ),
})
export type Quarantine = z.infer<typeof quarantineSchema>

export interface QuarantineRules {
  readonly reasons: readonly Reason[]
  /** Episodes that a task needs for a reason. */
  readonly least: number
  /** The share of pairs of rollouts that flip, above which all of the interval has to be. */
  readonly flips: number
}

/** Returns the tasks that have a reason, with the first one of them. */
export function proposeQuarantine(histories: readonly TaskHistory[], { reasons, least, flips }: QuarantineRules) {
  return histories.flatMap((history): Quarantine['tasks'] => {
    const { finished, successes, failed, flips: flipped } = history
    const holds: Record<Reason, boolean> = {
      never: finished >= least && successes === 0,
      always: finished >= least && successes === finished,
      flips: finished >= least && flipped !== null && flipped.low > flips,
      fails: failed >= least && finished === 0,
    }
    const reason = reasons.find((one) => holds[one])
    return reason ? [{ ...history, reason, flips: flipped && { ...flipped } }] : []
  })
}

/** Reads a quarantine file. Throws `option-invalid` for another one. */
export function readQuarantine(file: string) {
  const { environment, tasks } = parseJson(
    quarantineSchema,
    () => readTextFile(file),
    'option-invalid',
    `--without ${file} is no quarantine`,
  )
  const reasons = REASONS.flatMap((reason) => {
    const count = tasks.filter((task) => task.reason === reason).length
    return count > 0 ? [`${count} ${reason}`] : []
  })
  const ids = new Set(tasks.map(({ task }) => task))
  return {
    file: basename(file),
    environment,
    ids,
    note: `${plural(ids.size, 'task')} of ${basename(file)} left out: ${reasons.join(', ') || 'none'}.`,
  }
}
export type LeftOut = ReturnType<typeof readQuarantine>

/** Returns what the JSON of figures says of a quarantine; nothing without one. */
export function leftOutOf(left: LeftOut | undefined) {
  return left && { leftOut: { file: left.file, tasks: [...left.ids] } }
}

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
