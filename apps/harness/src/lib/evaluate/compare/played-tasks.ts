import { canonicalJson, contentId, type EpisodeRecord } from '@episodic/protocol'
import {
  areConflicting,
  comparePreference,
  completionsOf,
  groupOf,
  identityOf,
  ruleOf,
  type SealedLine,
  type ShownOutcome,
  type SuccessRule,
  scoredOutcomeOf,
} from '@episodic/report'
import { HarnessError } from '../../base/harness-error.ts'
import { usageOf } from '../../run-folder/model-usage.ts'

/** The result of one episode. */
export interface Play {
  readonly outcome: ShownOutcome
  /** The rule that decided its success; `null` if it failed. */
  readonly rule: SuccessRule | null
  /** The reason of the end, or the code of the failure. */
  readonly ending: string
  /** The unshaped return; 0, and never read, if it failed. */
  readonly unshaped: number
  readonly steps: number
  /**
   * Tokens of a language model that were read and written; `null` if none was asked, or its server did not count them.
   */
  readonly tokens: number | null
  /** In the currency of the run's prices; `null` without them. */
  readonly cost: number | null
  /** How often the episode was played. */
  readonly tries: number
}

/** A play with what decides which of several lines counts. */
type SealedPlay = Play & SealedLine

/** What determines an episode besides the policy. */
export interface Setup {
  /** As `name@version`. */
  readonly environment: string
  /** The {@link contentId} of the parameters, defaults included. */
  readonly params: string
  readonly seed: string
}

export interface PlayedTask {
  readonly difficulty: number
  /** `null` if no session was ever opened for it. */
  readonly setup: Setup | null
  /** By attempt. */
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
  /** Whether two lines of one episode differ. */
  readonly hasConflicts: boolean
  add(record: EpisodeRecord): void
} {
  let hasConflicts = false
  const tasks = new Map<string, { difficulty: number; setup: Setup | null; plays: Map<number, SealedPlay> }>()
  return {
    tasks,
    get hasConflicts() {
      return hasConflicts
    },
    add(record) {
      const { id, difficulty } = record.task
      const task = tasks.get(id) ?? { difficulty, setup: null, plays: new Map() }
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

export function differingKeys(a: Setup, b: Setup): (keyof Setup)[] {
  return (['environment', 'params', 'seed'] as const).filter((key) => a[key] !== b[key])
}

/** The setup of an episode; `null` if its session was never opened, because the defaults were then never filled in. */
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
  }
}
