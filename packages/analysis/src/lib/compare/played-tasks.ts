import { canonicalJson, contentId, type EpisodeRecord } from '@episodic/protocol'
import { judgementOf } from '@episodic/protocol/internal'
import { completionsOf } from '@episodic/report/fold/completions'
import { areConflicting, comparePreference, identityOf, type SealedLine } from '@episodic/report/fold/episode-identity'
import { groupOf, ruleOf, type ShownOutcome, scoredOutcomeOf } from '@episodic/report/fold/scored-outcome'
import { HarnessError } from '@episodic/run/base/harness-error'
import { usageOf } from '@episodic/run/folder/model-usage'
import { z } from 'zod'

/** The result of one episode, as it is kept in a baseline too. */
export const playSchema = z.strictObject({
  outcome: z.enum(['succeeded', 'fell-short', 'truncated', 'failed'] satisfies ShownOutcome[]),
  /** The rule that decided its success; `null` if it failed. */
  rule: z.enum(['default', 'world']).nullable(),
  /** The reason of the end, or the code of the failure. */
  ending: z.string(),
  /** The unshaped return; 0, and never read, if it failed. */
  unshaped: z.number(),
  steps: z.int(),
  /**
   * Tokens of a language model that were read and written; `null` if none was asked, or its server did not count them.
   */
  tokens: z.number().nullable(),
  /** In the currency of the run's prices; `null` without them. */
  cost: z.number().nullable(),
  tries: z.int(),
  /** The further verdicts of its world. Left out if there are none. */
  verdicts: z.record(z.string(), z.boolean()).optional(),
})
export type Play = Readonly<z.infer<typeof playSchema>>

type SealedPlay = Play & SealedLine

/**
 * What determines an episode besides the policy: the environment as `name@version`, the {@link contentId} of the
 * parameters, defaults included, and the seed.
 */
export const setupSchema = z.strictObject({ environment: z.string(), params: z.string(), seed: z.string() })
type Setup = Readonly<z.infer<typeof setupSchema>>

export interface PlayedTask {
  /** Left out of figures that were kept under a name. */
  readonly prompt?: string
  readonly difficulty: number
  /** `null` if no session was ever opened for it. */
  readonly setup: Setup | null
  readonly plays: ReadonlyMap<number, Play>
}
export type PlayedTasks = ReadonlyMap<string, PlayedTask>

/**
 * Collects sealed episodes by task, in any order. If two lines have the same episode, the one counts that a report
 * counts. Takes some 300 bytes per episode.
 *
 * `add` throws `run-invalid` if a run played a task with different setups.
 */
export function createPlayedTasks(): {
  readonly tasks: PlayedTasks
  readonly hasConflicts: boolean
  add(record: EpisodeRecord): void
} {
  let hasConflicts = false
  const tasks = new Map<
    string,
    { prompt: string; difficulty: number; setup: Setup | null; plays: Map<number, SealedPlay> }
  >()
  return {
    tasks,
    get hasConflicts() {
      return hasConflicts
    },
    add(record) {
      const { id, prompt, difficulty } = record.task
      const task = tasks.get(id) ?? { prompt, difficulty, setup: null, plays: new Map() }
      tasks.set(id, task)
      const setup = setupOf(record)
      const differing = setup && task.setup && differingKeys(setup, task.setup)
      if (differing && differing.length > 0)
        throw new HarnessError(
          'run-invalid',
          `Task ${id} was played with more than one ${differing.join(' and ')} in the run ${record.run}. Combine only lines of one run.`,
        )
      task.setup ??= setup
      const play = toPlay(record)
      const earlier = task.plays.get(record.attempt)
      if (earlier && areConflicting(play, earlier)) hasConflicts = true
      const counted = !earlier || comparePreference(play, earlier) < 0 ? play : earlier
      const tries = Math.max(play.tries, earlier?.tries ?? 0)
      task.plays.set(record.attempt, counted.tries === tries ? counted : { ...counted, tries })
    },
  }
}

export function countPlays(tasks: Iterable<Pick<PlayedTask, 'plays'>>) {
  const all = [...tasks].flatMap(({ plays }) => [...plays.values()])
  const finished = all.filter(({ outcome }) => outcome !== 'failed')
  const again = all.filter(({ tries }) => tries > 1)
  return {
    finished: finished.length,
    failed: all.length - finished.length,
    successes: finished.filter(({ outcome }) => outcome === 'succeeded').length,
    retried:
      again.length === 0
        ? null
        : {
            episodes: again.length,
            plays: again.reduce((sum, { tries }) => sum + tries - 1, 0),
            finished: again.filter(({ outcome }) => outcome !== 'failed').length,
          },
  }
}

export function differingKeys(a: Setup, b: Setup): (keyof Setup)[] {
  return (['environment', 'params', 'seed'] as const).filter((key) => a[key] !== b[key])
}

function setupOf({ start, environment, params, seed }: EpisodeRecord): Setup | null {
  if (!start) return null
  return { environment: `${environment.name}@${environment.version}`, params: contentId(canonicalJson(params)), seed }
}

function toPlay(record: EpisodeRecord): SealedPlay {
  const outcome = scoredOutcomeOf(record)
  const { promptTokens = null, completionTokens = null, cost = null } = usageOf(completionsOf(record)) ?? {}
  return {
    identity: identityOf(record),
    failed: outcome.kind === 'failed',
    outcome: groupOf(record),
    rule: ruleOf({ outcome }),
    ending: outcome.kind === 'failed' ? outcome.error.code : outcome.end.reason,
    unshaped: record.returns?.unshaped ?? 0,
    steps: record.steps.length,
    tries: record.try + 1,
    tokens: promptTokens === null || completionTokens === null ? null : promptTokens + completionTokens,
    cost,
    ...(outcome.kind === 'finished' && judgementOf({ verdicts: outcome.verdicts })),
  }
}
