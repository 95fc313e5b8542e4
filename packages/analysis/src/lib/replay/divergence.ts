import type { SealedRecord } from '@episodic/protocol'
import { shorten } from '@episodic/protocol/internal'
import { cleanText } from '@episodic/report/text/format'
import type { Difference } from './difference.ts'

const MEANINGS = {
  edited: () => 'The chain does not match the line: it was edited or damaged after it was sealed.',
  // Also what used something that strict rehearsal forbids.
  'rules-failed': ({ failure }) => `The rules failed: ${failure}`,
  'not-deterministic': () =>
    'Two replays differ from each other, so the rules depend on more than parameters, seed and actions. Use rng for randomness, and now for the time.',
  'world-changed': ({ environment: { name, version } }) =>
    `The line is unchanged, but ${name} ${version} plays differently now. A change of behavior needs a new version.`,
  'score-edited': () =>
    'The world plays the same, but its rewards or returns differ. The line was edited, or the weights, shaping or discount in run.json.',
  'action-edited': () =>
    'Runs record neither undeclared arguments nor an action that is not the call that the model played. The line was edited.',
  // Also an episode that the plan does not have.
  'plan-differs': () =>
    'The plan in run.json differs. The line was edited or belongs to another run, or the tasks of this world changed without a new version.',
  'try-missing': () =>
    'An episode is played again only after the try before has failed, and that one has no line. A line was removed, or this one was edited.',
  conflict: () => 'An earlier line of this episode is different: at most one of them was sealed.',
} satisfies Record<string, (about: Pick<SealedRecord, 'environment'> & { readonly failure: string | null }) => string>
export type Cause = keyof typeof MEANINGS

export interface Divergence {
  readonly task: string
  readonly attempt: number
  /** From 1; 0 is the start, and `null` the line as a whole. */
  readonly step: number | null
  /**
   * A path such as `observation.text`, `terms.goal` or `returns.total`; `rules` if they threw; `chain` if only the
   * chain does not match.
   */
  readonly field: string
  /** JSON, shortened. */
  readonly recorded: string
  /**
   * The replayed value. For `plan-differs` the planned value, and for `try-missing` and `conflict` the earlier line.
   */
  readonly replayed: string
  readonly cause: Cause
  readonly meaning: string
}

export interface Parting extends Difference {
  readonly step: number | null
}

const LONGEST_VALUE = 160

export function toDivergence(
  { task, attempt, environment }: Pick<SealedRecord, 'task' | 'attempt' | 'environment'>,
  { step, field, recorded, replayed }: Parting,
  cause: Cause,
  failure: string | null = null,
): Divergence {
  return {
    task: task.id,
    attempt,
    step,
    field,
    recorded: shownValue(recorded),
    replayed: shownValue(replayed),
    cause,
    meaning: MEANINGS[cause]({ environment, failure }),
  }
}

export function formatDivergence(divergence: Divergence): string {
  const { task, attempt, step, field, recorded, replayed, cause, meaning } = divergence
  const where = step === null ? 'the line' : step === 0 ? 'the start' : `step ${step}`
  const expected =
    cause === 'plan-differs' ? 'planned ' : cause === 'conflict' || cause === 'try-missing' ? 'earlier ' : 'replayed'
  return `task ${cleanText(task)}, attempt ${attempt}: ${where} differs in ${cleanText(field)}
  recorded  ${recorded}
  ${expected}  ${replayed}
  ${meaning}`
}

/** Returns a value of a line as people read it: JSON, shortened. */
export function shownValue(value: unknown): string {
  return shorten(JSON.stringify(value) ?? 'nothing', LONGEST_VALUE)
}
