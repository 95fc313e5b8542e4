import type { Completion } from '@episodic/protocol'
import type { LaneStep, ShownRecord } from '../seats/lanes.ts'
import { groupOf, type ShownOutcome, scoredOutcomeOf } from './scored-outcome.ts'

/** An answer of a language model as the page shows it. */
export interface ShownAnswer {
  readonly text: string | null
  readonly reasoning: string | null
  /** Its calls that were not played. */
  readonly unplayed: readonly string[]
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cost: number | null
  /** Of the request that was answered, and of waiting before it; `null` if unknown. */
  readonly time: Completion['time'] | null
  /** Requests that failed before it. */
  readonly failedTries: number
}

/** The answers of a language model to one observation. */
export interface ShownAnswers {
  /** The last ones. */
  readonly shown: readonly ShownAnswer[]
  /** Left out before them. */
  readonly omitted: number
}

/** A step as the page shows it. Arguments and structured content are already text. */
export interface ShownStep {
  /** From 1. */
  readonly number: number
  /** The seat that acted; `null` if the environment has one. */
  readonly seat: string | null
  readonly tool: string
  readonly arguments: string
  readonly observation: string
  readonly structured: string | null
  readonly total: number
  readonly shaping: number
  readonly terms: readonly (readonly [name: string, value: number])[]
  readonly potential: number | null
  readonly refused: string | null
  readonly milliseconds: number | null
  /** Left out if no language model was asked. */
  readonly answers?: ShownAnswers
}

/** An episode as the page shows it, shortened to a bounded size. */
export interface ShownEpisode {
  readonly task: string
  readonly attempt: number
  readonly prompt: string
  readonly difficulty: number
  readonly split: string
  readonly tags: readonly string[]
  readonly seed: string
  readonly policy: string
  readonly outcome: ShownOutcome
  /** The reason of the end, or the code of the failure. */
  readonly ending: string
  /** The error message of a failed episode. */
  readonly message: string | null
  readonly returns: { readonly total: number; readonly unshaped: number; readonly discounted: number } | null
  readonly milliseconds: number
  readonly start: { readonly observation: string; readonly potential: number | null } | null
  readonly steps: readonly ShownStep[]
  /** Steps left out in the middle. */
  readonly omitted: number
  /** Answers of a language model that led to no step. Left out if there were none. */
  readonly undecided?: ShownAnswers
}

/** Most bytes of one episode on the page, as escaped JSON. */
export const SHOWN_BYTES = 40_960

/** Limits for texts (in characters), steps, and answers of a language model for each step, tried in turn until an episode fits. The last one always fits. */
const CUTS = [
  { text: 8_000, steps: 200, answers: 8 },
  { text: 2_000, steps: 200, answers: 8 },
  { text: 500, steps: 200, answers: 4 },
  { text: 500, steps: 60, answers: 4 },
  { text: 120, steps: 60, answers: 2 },
  { text: 120, steps: 20, answers: 1 },
  { text: 40, steps: 4, answers: 0 },
] as const
const MOST_TERMS = 16
const MOST_TAGS = 16
const MOST_UNPLAYED = 4

/** Shortens an episode to at most {@link SHOWN_BYTES}: first the longest texts, then the middle steps. */
export function showEpisode(record: ShownRecord): ShownEpisode {
  let shown: ShownEpisode | undefined
  for (const cut of CUTS) {
    shown = cutEpisode(record, cut)
    if (Buffer.byteLength(scriptJson(shown)) <= SHOWN_BYTES) break
  }
  return shown as ShownEpisode
}

function cutEpisode(
  record: ShownRecord,
  { text: longest, steps: mostSteps, answers }: (typeof CUTS)[number],
): ShownEpisode {
  const text = (full: string) =>
    full.length <= longest
      ? full
      : `${full.slice(0, longest).toWellFormed()}… (${full.length - longest} more characters)`
  const { task, start, time } = record
  const outcome = scoredOutcomeOf(record)
  const omitted = Math.max(0, record.steps.length - mostSteps)
  const head = omitted > 0 ? Math.ceil(mostSteps / 2) : record.steps.length
  const shownSteps = record.steps.map((step, i) => ({ step, number: i + 1 }))
  return {
    task: text(task.id),
    attempt: record.attempt,
    prompt: text(task.prompt),
    difficulty: task.difficulty,
    split: task.split,
    tags: task.tags.slice(0, MOST_TAGS).map(text),
    seed: text(record.seed),
    policy: text(record.policy.name),
    outcome: groupOf(record),
    ending: text(outcome.kind === 'failed' ? outcome.error.code : outcome.end.reason),
    message: outcome.kind === 'failed' ? text(outcome.error.message) : null,
    returns: outcome.kind === 'failed' ? null : record.returns,
    milliseconds: time.ended - time.started,
    start: start && { observation: text(start.observation.text), potential: start.potential },
    steps: [...shownSteps.slice(0, head), ...shownSteps.slice(head + omitted)].map(({ step, number }) =>
      cutStep(step, number, answers, text),
    ),
    omitted,
    ...(record.undecided && { undecided: cutAnswers(record.undecided, answers, text) }),
  }
}

function cutStep(step: LaneStep, number: number, answers: number, text: (full: string) => string): ShownStep {
  const { action, observation, reward, completions } = step
  return {
    number,
    seat: step.seat === undefined ? null : text(step.seat),
    tool: text(action.tool),
    arguments: text(JSON.stringify(action.arguments)),
    observation: text(observation.text),
    structured: observation.structured && text(JSON.stringify(observation.structured)),
    total: reward.total,
    shaping: reward.shaping,
    terms: Object.entries(reward.terms)
      .slice(0, MOST_TERMS)
      .map(([name, value]) => [text(name), value]),
    potential: step.potential,
    refused: step.refused,
    milliseconds: step.milliseconds,
    ...(completions && { answers: cutAnswers(completions, answers, text) }),
  }
}

function cutAnswers(completions: readonly Completion[], most: number, text: (full: string) => string): ShownAnswers {
  const omitted = Math.max(0, completions.length - most)
  const shown = completions.slice(omitted).map((completion): ShownAnswer => {
    const { promptTokens, completionTokens, cost, reasoning, calls = [], time = null, tries = [] } = completion
    const unplayed = calls.filter(({ played }) => !played).slice(0, MOST_UNPLAYED)
    return {
      text: completion.text && text(completion.text),
      reasoning: reasoning === undefined ? null : text(reasoning),
      unplayed: unplayed.map(({ name, arguments: args }) => text(`${name}(${args})`)),
      promptTokens,
      completionTokens,
      cost,
      time,
      failedTries: tries.length,
    }
  })
  return { shown, omitted }
}

/** Serializes a value as JSON that is safe inside a `<script>` element. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
