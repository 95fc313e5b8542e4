import { type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import { playAction } from '@episodic/mcp-server/internal'
import type { Action, JsonObject } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { type Branch, enumerateDraws } from './enumerate-draws.ts'

/** What an action may lead to. */
export interface Result {
  readonly state: SessionState
  /** The sum of the reward terms. */
  readonly reward: number
  /** Whether the rules ended the episode. */
  readonly done: boolean
}

/**
 * Lists the initial states with their probabilities, as the environment's own `start` draws them. Throws
 * `option-invalid` for an environment with several seats.
 */
export function listStarts(environment: EnvironmentDefinition, params: JsonObject): Branch<SessionState>[] {
  if (environment.seats.length > 1)
    throw new ServerError('option-invalid', `${environment.name} has several seats, and only one player can be solved.`)
  return enumerateDraws((rng) => environment.start({ params, rng }))
}

/**
 * Lists what an action may lead to from a state, as the environment's own rules and reward terms decide it. Throws
 * `option-invalid` for rules that publish events or take time.
 */
export function listOutcomes(
  environment: EnvironmentDefinition,
  params: JsonObject,
  state: SessionState,
  action: Action,
): Branch<Result>[] {
  const [seat] = environment.seats as [string]
  const seats = { [seat]: { seq: 0, last: null } }
  const record = { params, seed: '', rng: {}, now: 0, state, history: [], end: null, seats }
  const text = JSON.stringify(state)
  return enumerateDraws((rng) => {
    const turn = { seat, record, draft: JSON.parse(text), truncation: null }
    const { change, end, terms, published } = playAction(environment, turn, action, { rng })
    if (published || (change && change.now !== 0))
      throw new ServerError(
        'option-invalid',
        `${action.tool} of ${environment.name} publishes events or takes time, which a solver does not follow.`,
      )
    const reward = Object.values(terms).reduce((sum, term) => sum + term, 0)
    return { state: change?.state ?? state, reward, done: end !== null }
  })
}
