import { type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import { playAction } from '@episodic/mcp-server/internal'
import type { Action, JsonObject, Observation } from '@episodic/protocol'
import type { SessionRecord, SessionState } from '@episodic/state'
import { type Branch, enumerateDraws } from './enumerate-draws.ts'

/** Where an episode stands before an action. */
export interface Position {
  readonly state: SessionState
  readonly turn: readonly string[]
  readonly seats: SessionRecord['seats']
}

/** What an action may lead to. */
export interface Outcome {
  readonly state: SessionState
  /** `null` if the rules ended the episode for all. */
  readonly next: Position | null
  /** The sums of the reward terms, in the order of the seats. */
  readonly rewards: readonly number[]
  readonly answer: Observation
  /** What others are sent, by seat. */
  readonly messages: { readonly [seat: string]: readonly string[] }
}

/** Lists the initial positions, as the environment's own `start` draws them. Throws for more than `most`. */
export function listStarts(environment: EnvironmentDefinition, params: JsonObject, most?: number): Branch<Position>[] {
  const present = environment.present(params)
  const seats = Object.fromEntries(present.map((seat) => [seat, { seq: 0, last: null }]))
  return enumerateDraws((rng) => {
    const state = environment.start({ params, rng })
    const turn = environment.turn(state, params).filter((seat) => present.includes(seat))
    return { state, turn, seats }
  }, most)
}

/**
 * Lists what an action of the first seat in turn may lead to, as the environment's own rules and reward terms decide
 * it. Throws `option-invalid` for rules that take time, that refuse a legal action, or that let several seats act in
 * any order.
 */
export function listOutcomes(
  environment: EnvironmentDefinition,
  params: JsonObject,
  { state, turn, seats }: Position,
  action: Action,
): Branch<Outcome>[] {
  const { name, multiplayer, settle } = environment
  const invalid = (what: string) => new ServerError('option-invalid', what)
  if (turn.length > 1 && !settle)
    throw invalid(`In ${name} several seats may act in any order, so it has no game tree.`)
  const [seat] = turn as [string]
  const record = {
    params,
    seed: '',
    rng: {},
    now: 0,
    state,
    history: [],
    end: null,
    seats,
    ...(multiplayer && { turn }),
  }
  const text = JSON.stringify(state)
  return enumerateDraws((rng) => {
    const given = { seat, record, draft: JSON.parse(text), truncation: null }
    const { change, end, terms, observation, seats: ofSeats } = playAction(environment, given, action, { rng })
    if (!change) throw invalid(`${action.tool} of ${name} refused a legal action: ${observation.text}.`)
    if (change.now !== 0) throw invalid(`${action.tool} of ${name} takes time, which a solver does not follow.`)
    const left = Object.entries(ofSeats?.ends ?? {}).map(([other, end]) => [other, { seq: 0, last: null, end }])
    return {
      state: change.state,
      next: end
        ? null
        : { state: change.state, turn: ofSeats?.turn ?? turn, seats: { ...seats, ...Object.fromEntries(left) } },
      rewards: Object.keys(seats).map((of) => sum(of === seat ? terms : (ofSeats?.terms?.[of] ?? {}))),
      answer: observation,
      messages: ofSeats?.sent ?? {},
    }
  })
}

function sum(terms: Readonly<Record<string, number>>): number {
  return Object.values(terms).reduce((total, term) => total + term, 0)
}
