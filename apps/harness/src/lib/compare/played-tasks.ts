import { canonicalJson, contentId, type EpisodeRecord } from '@episodic/protocol'
import { HarnessError } from '../harness-error.ts'
import { compareWords, type EpisodeIdentity, IDENTITY_WORDS, identityOf } from '../report/fold/episode-identity.ts'
import { ruleOf, type SuccessRule, scoredOutcomeOf } from '../report/fold/scored-outcome.ts'
import { groupOf, type ShownOutcome } from '../report/fold/shown-episode.ts'

/** What one episode came to. */
export interface Play {
  /** Of the sealed line that counts. */
  readonly identity: EpisodeIdentity
  readonly outcome: ShownOutcome
  /** By which rule its success was judged; `null` for one that failed. */
  readonly rule: SuccessRule | null
  /** The reason of the end, or the code of the failure. */
  readonly ending: string
  /** What the world paid; 0 for one that failed, which is never read. */
  readonly unshaped: number
  readonly steps: number
}

/** What decides how a task goes besides its player. */
export interface Setup {
  /** As `name@version`. */
  readonly environment: string
  /** The {@link contentId} of the parameters, defaults included. */
  readonly params: string
  readonly seed: string
}

export interface PlayedTask {
  readonly difficulty: number
  /** `null` where no world ever opened for it. */
  readonly setup: Setup | null
  /** By attempt. */
  readonly plays: ReadonlyMap<number, Play>
}
export type PlayedTasks = ReadonlyMap<string, PlayedTask>

/**
 * Collects sealed episodes by task, whatever order they come in; where two lines tell of one episode, the one counts
 * that a report would count. Takes some 300 bytes an episode.
 *
 * Throws `run-invalid` for a task that one run has played in two ways.
 */
export function createPlayedTasks(): {
  readonly tasks: PlayedTasks
  /** Whether two lines say different things of one episode. */
  readonly hasConflicts: boolean
  add(record: EpisodeRecord): void
} {
  let hasConflicts = false
  const tasks = new Map<string, { difficulty: number; setup: Setup | null; plays: Map<number, Play> }>()
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
          `Task ${id} was played with more than one ${differing.join(' and ')} in the run ${record.run}. Put together only lines of one run.`,
        )
      task.setup ??= setup
      const play = playOf(record)
      const earlier = task.plays.get(record.attempt)
      if (earlier && compareLines(play, earlier) !== 0) hasConflicts = true
      if (!earlier || compareLines(play, earlier) < 0) task.plays.set(record.attempt, play)
    },
  }
}

/** Which keys of two setups differ. */
export function differingKeys(a: Setup, b: Setup): (keyof Setup)[] {
  return (['environment', 'params', 'seed'] as const).filter((key) => a[key] !== b[key])
}

/** Where the world never opened, its defaults were never filled in, and nothing was played. */
function setupOf({ start, environment, params, seed }: EpisodeRecord): Setup | null {
  if (!start) return null
  return { environment: `${environment.name}@${environment.version}`, params: contentId(canonicalJson(params)), seed }
}

function playOf(record: EpisodeRecord): Play {
  const outcome = scoredOutcomeOf(record)
  return {
    identity: identityOf(record),
    outcome: groupOf(record),
    rule: ruleOf({ outcome }),
    ending: outcome.kind === 'failed' ? outcome.error.code : outcome.end.reason,
    unshaped: record.returns?.unshaped ?? 0,
    steps: record.steps.length,
  }
}

/** Of two lines of one episode the finished one is first, and then the lower content. */
function compareLines(a: Play, b: Play): number {
  return (
    Number(a.outcome === 'failed') - Number(b.outcome === 'failed') ||
    compareWords(a.identity, 0, b.identity, 0, IDENTITY_WORDS)
  )
}
