import type { EpisodeRecord } from '@episodic/protocol'
import type { Difference } from './difference.ts'

/**
 * What a divergence comes from.
 *
 * - `edited`: the line's chain does not fit the line, so that it is not what was sealed.
 * - `rules-failed`: the rules threw, or reached for what strict rehearsal forbids.
 * - `not-deterministic`: two replays of the same line differ from each other.
 * - `world-changed`: the line is whole, and the world always answers otherwise.
 * - `score-edited`: the world answers as it did, and other rewards or returns come of that.
 * - `action-edited`: an action has an argument that its tool does not declare, which no run records.
 * - `plan-differs`: the configuration of the run plans something else for this episode, or no such episode.
 * - `conflict`: an earlier line contradicts it for the same episode.
 */
export type Cause =
  | 'edited'
  | 'rules-failed'
  | 'not-deterministic'
  | 'world-changed'
  | 'score-edited'
  | 'action-edited'
  | 'plan-differs'
  | 'conflict'

/** Where a recorded episode and its replay part. */
export interface Divergence {
  readonly task: string
  readonly attempt: number
  /** From 1; 0 is the start, and `null` the line as a whole. */
  readonly step: number | null
  /** A path such as `observation.text`, `terms.goal` or `returns.total`; `rules` where they threw, and `chain` where that alone is wrong. */
  readonly field: string
  /** JSON, shortened. */
  readonly recorded: string
  /** What the replay gave; what the run planned, or where the earlier line is, where the cause is one of those. */
  readonly replayed: string
  readonly cause: Cause
  /** The cause in words, with what to do. */
  readonly meaning: string
}

/** Where in an episode they part. `failure` is what the rules threw. */
export interface Parting extends Difference {
  readonly step: number | null
  readonly failure: string | null
}

const LONGEST_VALUE = 160

/** Makes a divergence of a parting. */
export function describeDivergence(
  { task, attempt, environment }: Pick<EpisodeRecord, 'task' | 'attempt' | 'environment'>,
  { step, field, recorded, replayed }: Parting,
  { cause, failure }: { readonly cause: Cause; readonly failure: string | null },
): Divergence {
  const meanings: Record<Cause, string> = {
    edited: 'The line is not what was sealed: its chain does not fit it. It was edited or damaged.',
    'rules-failed': `The rules failed: ${failure}`,
    'not-deterministic':
      'Two replays differ from each other, so the rules use something besides parameters, seed and actions. Draw from rng, and take the time from now.',
    'world-changed': `The line is whole, and ${environment.name} ${environment.version} plays otherwise than it did. A change of behaviour needs a new version.`,
    'score-edited':
      'The world plays as it did, and its rewards come to something else. The line was edited, or how its run weighed, shaped and discounted.',
    'action-edited': 'No run records an argument that the tool does not declare. The line was edited.',
    'plan-differs':
      "The configuration in run.json plans something else. The line was edited or is another run's, or the tasks of this world have changed without a new version.",
    conflict: 'An earlier line of this episode says something else: at most one of them is what was sealed.',
  }
  return {
    task: task.id,
    attempt,
    step,
    field,
    recorded: shorten(recorded),
    replayed: shorten(replayed),
    cause,
    meaning: meanings[cause],
  }
}

/** A divergence for a reader, on a few lines. */
export function formatDivergence(divergence: Divergence): string {
  const { task, attempt, step, field, recorded, replayed, cause, meaning } = divergence
  const where = step === null ? 'the line' : step === 0 ? 'the start' : `step ${step}`
  const expected = cause === 'plan-differs' ? 'planned ' : cause === 'conflict' ? 'earlier ' : 'replayed'
  return `task ${task}, attempt ${attempt}: ${where} differs in ${field}
  recorded  ${recorded}
  ${expected}  ${replayed}
  ${meaning}`
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text
}
