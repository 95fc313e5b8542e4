import { canonicalJson, contentId, type JsonObject } from '@episodic/protocol'
import { findUnknownKeys, formatUnknownKeys } from '@episodic/protocol/internal'
import type { GradeRecord, GraderRef } from './grade-record.ts'
import { GRADER_NEEDS, type GradedEpisode, type GradedParts, type GraderNeed } from './graded-episode.ts'

/** What a grader answers with: yes or no, a number from 0 to 1, or one of its labels, of which the last is the best. */
export type GraderScale = 'boolean' | 'score' | readonly [string, string, ...string[]]

export type ScaleValue<Scale extends GraderScale> = Scale extends 'boolean'
  ? boolean
  : Scale extends 'score'
    ? number
    : Scale extends readonly (infer Label)[]
      ? Label
      : never

/** What a grader says about an episode. */
export interface Verdict<Value = boolean | number | string> {
  /** `null`: undecided. It is in no figure, and never counts as 0 or `false`. */
  readonly value: Value | null
  readonly why: string
  /** Words of the episode that show it, each with its step (from 0). Quotes that are not there are marked. */
  readonly evidence?: readonly { readonly step: number; readonly quote: string }[] | undefined
  readonly asked?: GradeRecord['asked']
}

/** What a grader is given: the episode, and the parts that it needs. */
export type GraderContext<Need extends GraderNeed = never> = GradedEpisode &
  Pick<GradedParts, Need> & {
    /** Numbers the votes on this episode, from 0. */
    readonly vote: number
    readonly seed: string
    readonly signal: AbortSignal
  }

/** A definition of a grader, see {@link defineGrader}. */
export interface GraderDefinition<Scale extends GraderScale, Need extends GraderNeed> {
  /** Names the question: verdicts of graders and people under the same name are compared. */
  readonly name: string
  readonly version: string
  readonly scale: Scale
  /** What it is given besides the actions, observations and the task. Default: nothing more. */
  readonly needs?: readonly Need[]
  /** What asks a model, or a person, says so here. Default: `function`. */
  readonly kind?: 'function' | 'model'
  /** How often it is asked about each episode. Default 1. The majority, or the mean of scores, counts. */
  readonly votes?: number
  /** Verdicts are comparable only if this is equal, besides name, version, scale and needs. Default: its code. */
  readonly identity?: JsonObject
  /** Returns the verdict on one episode. What it throws is reported, and the episode stays ungraded. */
  grade(context: GraderContext<Need>): Verdict<ScaleValue<Scale>> | Promise<Verdict<ScaleValue<Scale>>>
}

/** A grader, whatever its scale and needs. */
export interface Grader {
  readonly name: string
  readonly version: string
  readonly scale: GraderScale
  readonly needs: readonly GraderNeed[]
  readonly kind: 'function' | 'model'
  readonly votes: number
  readonly identity: JsonObject
  /** Returns the grader with another number of votes. Left out if its votes on one episode do not differ. */
  readonly withVotes?: ((votes: number) => Grader) | undefined
  grade(context: GraderContext<GraderNeed>): Verdict | Promise<Verdict>
}

/**
 * Defines a grader: a function that judges sealed episodes. It is given neither reward, outcome nor the player's name
 * unless `needs` asks for them, so that it cannot copy them.
 *
 * Throws a `TypeError` for a definition with an unknown key or without a name, with repeated labels, with an unknown
 * need, or with a number of votes that is not a whole number from 1.
 */
export function defineGrader<const Scale extends GraderScale, const Need extends GraderNeed = never>(
  definition: GraderDefinition<Scale, Need>,
): Grader {
  const { name, version, scale, needs = [], kind = 'function', votes = 1 } = definition
  const misspelt = findUnknownKeys(PARTS, definition)
  if (misspelt.length > 0) throw new TypeError(`The grader ${name} has an unknown key. ${formatUnknownKeys(misspelt)}`)
  if (!name) throw new TypeError('A grader needs a name.')
  if (typeof scale !== 'string' && new Set(scale).size !== scale.length)
    throw new TypeError(`The grader ${name} has a label twice: ${scale.join(', ')}.`)
  if (!(Number.isSafeInteger(votes) && votes >= 1))
    throw new TypeError(`The grader ${name} has ${votes} votes: give a whole number from 1.`)
  const unknown = needs.find((need) => !GRADER_NEEDS.includes(need))
  if (unknown !== undefined)
    throw new TypeError(`The grader ${name} needs "${unknown}". It can need: ${GRADER_NEEDS.join(', ')}.`)
  const grade = (context: GraderContext<GraderNeed>) => definition.grade(context as unknown as GraderContext<Need>)
  const identity = definition.identity ?? { code: String(definition.grade) }
  return { name, version, scale, needs, kind, votes, identity, grade }
}

type Part = keyof GraderDefinition<GraderScale, GraderNeed>
const PARTS: readonly Part[] = ['name', 'version', 'scale', 'needs', 'kind', 'votes', 'identity', 'grade']

/** Whether a value is a grader made by {@link defineGrader}, possibly of another copy of this package. */
export function isGrader(value: unknown): value is Grader {
  return (
    typeof value === 'object' &&
    value !== null &&
    'grade' in value &&
    typeof value.grade === 'function' &&
    'needs' in value &&
    Array.isArray(value.needs) &&
    'scale' in value &&
    'votes' in value
  )
}

export function graderRefOf({ name, version, scale, needs, kind, identity }: Grader): GraderRef {
  const sorted = [...needs].sort()
  const sha256 = contentId(canonicalJson({ name, version, scale, needs: sorted, identity }))
  const { model } = identity
  return {
    name,
    version,
    sha256,
    kind,
    ...(kind === 'model' && typeof model === 'string' && { model }),
    ...labelsOf(scale),
  }
}

export function labelsOf(scale: GraderScale): Pick<GraderRef, 'labels'> {
  return typeof scale === 'string' ? {} : { labels: [...scale] }
}

export function findVerdictProblem(scale: GraderScale, verdict: unknown): string | null {
  if (typeof verdict !== 'object' || verdict === null) return 'it returned no verdict: { value, why }'
  const { value, why, evidence = [] } = verdict as Partial<Verdict>
  if (value !== null && !isOnScale(scale, value)) return `its value is ${JSON.stringify(value)}, not ${wordsOf(scale)}`
  if (typeof why !== 'string') return 'its verdict does not say why, as a text'
  if (!Array.isArray(evidence) || !evidence.every(isEvidence))
    return 'its evidence is not a list of { step, quote }, with steps from 0'
  return null
}

function isOnScale(scale: GraderScale, value: unknown): boolean {
  if (scale === 'boolean') return typeof value === 'boolean'
  if (scale === 'score') return typeof value === 'number' && value >= 0 && value <= 1
  return scale.some((label) => label === value)
}

export function wordsOf(scale: GraderScale): string {
  if (scale === 'boolean') return 'true or false'
  return scale === 'score' ? 'a number from 0 to 1' : `one of ${scale.join(', ')}`
}

function isEvidence(one: unknown): boolean {
  const { step, quote } = (one ?? {}) as { step?: unknown; quote?: unknown }
  return Number.isSafeInteger(step) && (step as number) >= 0 && typeof quote === 'string'
}
