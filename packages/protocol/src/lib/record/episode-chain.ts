import { canonicalJson } from '../base/canonical-json.ts'
import { contentId, sha256OfBase64 } from '../base/digest.ts'
import type { Json } from '../base/json.ts'
import { type Judgement, judgementOf } from '../wire/end-reasons.ts'
import type { Observation } from '../wire/observation.ts'
import type { EpisodeRecord, RecordedStep } from './episode-record.ts'
import type { MatchRecord, RecordedSeatStep } from './match-record.ts'

/** The part of an episode that a replay must reproduce from the same version, parameters, seed and actions. */
export type Reproducible = Pick<
  EpisodeRecord,
  'environment' | 'params' | 'seed' | 'origin' | 'branch' | 'start' | 'steps' | 'outcome'
>

/**
 * Returns the last link of an episode's hash chain. Each link is the {@link contentId} of the previous link and of what
 * one step must reproduce: action, observation, raw reward terms, potential, refusal, state hash, outside events and
 * prepared input; in a match also the seat, the raw terms of every seat, and what each learned. The first link covers
 * the start, what it goes on from and the reseeded branch points, the last one the end and its judgement. Times,
 * weights and shaping are left out: they do not come from the environment.
 */
export function chainOf(played: Reproducible | MatchRecord): string {
  return 'seats' in played ? chainOfMatch(played) : chainOfEpisode(played)
}

function chainOfEpisode({ environment, params, seed, origin, branch, start, steps, outcome }: Reproducible): string {
  const given = { environment, params, seed, ...(origin && { origin }) }
  const reseeded = branch && { at: branch.at, seeds: branch.seeds }
  const links = steps.map((step) => givenBy(step, step.reward.terms))
  const ending = outcome.kind === 'failed' ? null : judgedEnd(outcome.end, outcome)
  return link({ ...given, start, ...(reseeded && { reseeded }) }, links, ending)
}

function chainOfMatch({ environment, params, seed, origin, turn, seats, steps, outcome }: MatchRecord): string {
  const given = { environment, params, seed, ...(origin && { origin }) }
  const bySeat = <Part>(part: (seat: MatchRecord['seats'][string]) => Part) =>
    Object.fromEntries(Object.entries(seats).map(([name, seat]) => [name, part(seat)]))
  const links = steps.map((step) => ({ ...givenBy(step, termsOf(step)), seat: step.seat, seats: step.seats }))
  const ending = outcome.kind === 'failed' ? null : bySeat(({ end, ...seat }) => judgedEnd(end, seat))
  return link({ ...given, turn, starts: bySeat(({ start }) => start) }, links, ending)
}

function termsOf({ rewards }: RecordedSeatStep) {
  return Object.fromEntries(Object.entries(rewards).map(([seat, { terms }]) => [seat, terms]))
}

function givenBy(step: Omit<RecordedStep, 'reward'>, terms: object) {
  const { action, potential, refused, stateHash, events, prepared } = step
  const observation = withoutAttachedData(step.observation)
  // In the order of canonical JSON, which then has nothing to sort.
  const given = { action, observation, potential, refused, stateHash, terms }
  return events || prepared !== undefined
    ? { ...given, ...(events && { events }), ...(prepared !== undefined && { prepared }) }
    : given
}

/**
 * Returns an observation without the bytes of its attachments, which their hash stands for: a line has them once, or
 * not at all. The hash is made of the bytes where they are there, so that an edit of them is found.
 */
export function withoutAttachedData(observation: Observation): Observation {
  const attachments = observation.attachments?.map(({ data, ...rest }) =>
    data === undefined ? rest : { ...rest, sha256: sha256OfBase64(data) },
  )
  return attachments ? { ...observation, attachments } : observation
}

function link(beginning: object, steps: readonly object[], ending: object | null): string {
  const text = (value: object | null) => canonicalJson(value as Json)
  const last = steps.reduce<string>((earlier, step) => contentId(earlier + text(step)), contentId(text(beginning)))
  return contentId(last + text(ending))
}

/** Without a judgement only the end, so that the chains of environments that define none stay the same. */
function judgedEnd<End>(end: End, outcome: Judgement) {
  const judgement = judgementOf(outcome)
  return Object.keys(judgement).length === 0 ? end : { end, ...judgement }
}
