import {
  type Action,
  type EpisodeEnd,
  type EpisodeRecord,
  type JsonObject,
  type ModelRequest,
  type Observation,
  type RecordedStep,
  type Refusal,
  type Reward,
  requestsOf,
} from '@episodic/protocol'
import { completionsOf } from '../fold/completions.ts'
import { isSuccess, ruleOf, type SuccessRule } from '../fold/scored-outcome.ts'

/** An episode as a grader sees it: what happened, and nothing that says how it was scored or who played. */
export interface GradedEpisode {
  readonly task: {
    readonly id: string
    readonly prompt: string
    readonly difficulty: number
    readonly tags: readonly string[]
  }
  readonly environment: { readonly name: string; readonly version: string }
  readonly params: JsonObject
  /** The seat that is judged; `null` for an environment of one seat. */
  readonly seat: string | null
  /** The first observation; `null` if the session could not be opened. */
  readonly start: Observation | null
  readonly steps: readonly GradedStep[]
}

export interface GradedStep {
  readonly action: Action
  readonly observation: Observation
  readonly refused: Refusal | null
  /** What outside events before the step said. */
  readonly events: readonly string[]
}

/** The parts of an episode that a grader is given only if it needs them. */
export interface GradedParts {
  /** The answers of language models, in their order, each with what it was sent. */
  readonly transcript: readonly GradedAnswer[]
  /** The states, by replay. `steps` has one state after each step. */
  readonly states: { readonly start: GradedState; readonly steps: readonly GradedState[] }
  readonly rewards: {
    readonly steps: readonly (Reward & { readonly potential: number | null })[]
    readonly returns: EpisodeRecord['returns']
  }
  readonly outcome: { readonly end: EpisodeEnd; readonly success: boolean; readonly rule: SuccessRule }
  readonly player: { readonly name: string; readonly models: readonly string[] }
}

export type GraderNeed = keyof GradedParts

export const GRADER_NEEDS = ['transcript', 'states', 'rewards', 'outcome', 'player'] as const satisfies GraderNeed[]

export interface GradedAnswer {
  /** The step that it led to, from 0; `null` if it led to none. */
  readonly step: number | null
  /** What the model was sent; `null` if that was not recorded. */
  readonly sent: ModelRequest | null
  readonly text: string | null
  readonly reasoning: string | null
  readonly calls: readonly { readonly name: string; readonly arguments: string; readonly played: boolean }[]
}

export interface GradedState {
  readonly public: JsonObject
  /** What each seat alone may see; left out for an environment of one seat. */
  readonly own?: { readonly [seat: string]: JsonObject } | undefined
  readonly private: JsonObject
}

/**
 * Returns a finished episode as a grader sees it, with the parts that it needs: a copy that shares nothing with the
 * record, so that a grader reaches no other part of it and changes nothing.
 *
 * @param states - of the start and after each step, if the grader needs them.
 */
export function gradedEpisodeOf(
  record: EpisodeRecord,
  needs: readonly GraderNeed[],
  { seat = null, states }: { readonly seat?: string | null; readonly states?: GradedParts['states'] | undefined } = {},
): GradedEpisode & Partial<GradedParts> {
  const { task, environment, params, start, steps } = record
  const { id, prompt, difficulty, tags } = task
  const parts: { [need in GraderNeed]: () => Partial<GradedParts> } = {
    transcript: () => ({ transcript: answersOf(record) }),
    states: () => ({ ...(states && { states }) }),
    rewards: () => ({
      rewards: { steps: steps.map(({ reward, potential }) => ({ ...reward, potential })), returns: record.returns },
    }),
    outcome: () => outcomeOf(record),
    player: () => ({
      player: { name: record.policy.name, models: [...new Set(completionsOf(record).map(({ model }) => model))] },
    }),
  }
  const graded: GradedEpisode & Partial<GradedParts> = {
    task: { id, prompt, difficulty, tags },
    environment,
    params,
    seat,
    start: start?.observation ?? null,
    steps: steps.map(stepOf),
    ...Object.assign({}, ...needs.map((need) => parts[need]())),
  }
  return structuredClone(graded)
}

function stepOf({ action, observation, refused, events = [] }: RecordedStep): GradedStep {
  return { action, observation, refused, events: events.flatMap(({ said }) => (said === null ? [] : [said])) }
}

function outcomeOf(record: EpisodeRecord): Partial<GradedParts> {
  const rule = ruleOf(record)
  if (record.outcome.kind === 'failed' || rule === null) return {}
  return { outcome: { end: record.outcome.end, success: isSuccess(record), rule } }
}

function answersOf(record: EpisodeRecord): GradedAnswer[] {
  const requests = requestsOf(record)
  const places = record.steps.flatMap(({ completions = [] }, step) => completions.map(() => step))
  return completionsOf(record).map(({ text, reasoning = null, calls = [] }, i) => ({
    step: places[i] ?? null,
    sent: requests[i] ?? null,
    text,
    reasoning,
    calls: calls.map(({ name, arguments: args, played }) => ({ name, arguments: args, played })),
  }))
}
