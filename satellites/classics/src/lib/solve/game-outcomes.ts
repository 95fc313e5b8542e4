import { type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import { playAction } from '@episodic/mcp-server/internal'
import type { Action, JsonObject, Observation } from '@episodic/protocol'
import type { SessionRecord, SessionState } from '@episodic/state'
import { type Branch, enumerateDraws, mergeBranches } from './enumerate-draws.ts'

/** Where a game stands before a move. */
export interface GamePosition {
  readonly state: SessionState
  /** The seats that may act. */
  readonly turn: readonly string[]
  readonly seats: SessionRecord['seats']
}

/** What a move may lead to. */
export interface GameResult {
  /** `null` if the episode is over for all. */
  readonly next: GamePosition | null
  readonly state: SessionState
  /** The sum of the reward terms of each seat that played. */
  readonly rewards: { readonly [seat: string]: number }
  /** What the seat that moved is answered. */
  readonly answer: Observation
  readonly messages: { readonly [seat: string]: readonly string[] }
}

/**
 * Lists the initial positions with their probabilities. Throws `option-invalid` for an environment of one seat, and for
 * more than `most` positions.
 */
export function listGameStarts(
  environment: EnvironmentDefinition,
  params: JsonObject,
  most: number,
): Branch<GamePosition>[] {
  if (!environment.multiplayer)
    throw new ServerError(
      'option-invalid',
      `${environment.name} has one seat; use transitionTable or beliefValue for it.`,
    )
  const seats = Object.fromEntries(environment.present(params).map((seat) => [seat, { seq: 0, last: null }]))
  const branches = enumerateDraws((rng) => {
    const state = environment.start({ params, rng })
    return { state, turn: environment.turn(state, params).filter((seat) => Object.hasOwn(seats, seat)), seats }
  }, most)
  return mergeBranches(branches, ({ state }) => state)
}

/**
 * Lists what an action of the first seat in turn may lead to, by the environment's own rules and reward terms. Throws
 * `option-invalid` for rules that take time, that refuse a legal action, or that let several seats act in any order.
 */
export function listGameOutcomes(
  environment: EnvironmentDefinition,
  params: JsonObject,
  { state, turn, seats }: GamePosition,
  action: Action,
): Branch<GameResult>[] {
  const { name, settle } = environment
  if (turn.length > 1 && !settle)
    throw new ServerError('option-invalid', `In ${name} several seats may act in any order, so it has no game tree.`)
  const [seat] = turn as [string]
  const record = { params, seed: '', rng: {}, now: 0, state, history: [], end: null, seats, turn }
  const text = JSON.stringify(state)
  const branches = enumerateDraws((rng) => {
    const played = playAction(environment, { seat, record, draft: JSON.parse(text), truncation: null }, action, { rng })
    const { change } = played
    if (change?.now !== 0)
      throw new ServerError(
        'option-invalid',
        `${action.tool} of ${name} ${change ? 'takes time, which a solver does not follow' : `refused a legal action: ${played.observation.text}`}.`,
      )
    const { turn: nextTurn = [], terms = {}, ends = {}, sent = {} } = played.seats ?? {}
    const left = Object.fromEntries(Object.entries(ends).map(([other, end]) => [other, { seq: 0, last: null, end }]))
    const next = played.end
      ? null
      : { state: change.state, turn: nextTurn, seats: { ...seats, ...left } as SessionRecord['seats'] }
    return {
      next,
      state: change.state,
      rewards: Object.fromEntries([
        [seat, sum(played.terms)],
        ...Object.entries(terms).map(([at, of]) => [at, sum(of)]),
      ]),
      answer: played.observation,
      messages: sent,
    }
  })
  return mergeBranches(branches, ({ next, ...rest }) => [rest, next?.turn, next && Object.keys(next.seats)])
}

function sum(terms: Readonly<Record<string, number>>): number {
  return Object.values(terms).reduce((total, term) => total + term, 0)
}
