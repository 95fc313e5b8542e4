import { createRng, type JsonObject, type Observation, type RngState } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import type { SessionState } from '@episodic/state'
import type { KeptState } from '@episodic/state/internal'
import type { z } from 'zod'
import { rulesFailed } from '../../server-error.ts'
import type { EnvironmentDefinition } from '../definition/environment.ts'
import { ignoreRejection } from '../definition/thrown-value.ts'
import { bySeat } from './rules-turn.ts'
import { parseStartPart } from './start-part.ts'

/** The observation of a state, and its potential for the trainer. */
export interface ObservedState {
  readonly observation: Observation
  readonly potential: number | null
}

/** The state, random streams and observation before the first step. With several seats, that of the first one. */
export interface InitialState extends ObservedState {
  readonly state: SessionState
  readonly rng: RngState
  /** What each seat of the episode observes; left out if there is one seat. */
  readonly seats?: { readonly [seat: string]: ObservedState }
  /** The seats that may act first; left out if there is one seat. */
  readonly turn?: readonly string[]
}

export function beginning(
  { seats: only }: Pick<EnvironmentDefinition, 'seats'>,
  { rng, seats, turn }: Pick<InitialState, 'rng' | 'seats' | 'turn'>,
  { state }: KeptState,
) {
  return {
    revision: 0,
    rng,
    now: 0,
    state,
    end: null,
    seats: bySeat(seats ? Object.keys(seats) : only, () => ({ seq: 0, last: null })),
    ...(turn && { turn }),
    history: [],
  }
}

export function observeState(
  environment: EnvironmentDefinition,
  state: SessionState,
  params: JsonObject,
  seat: string,
): ObservedState {
  return {
    observation: environment.observe(state, params, seat),
    potential: environment.potential(state, params, seat),
  }
}

/**
 * Starts a world from parameters that passed its schema. The same parameters and seed give the same start, so it
 * can be asked for again at any time.
 */
export function startEnvironment(environment: EnvironmentDefinition, params: JsonObject, seed: string): InitialState {
  const rng = createRng(seed)
  const started = environment.start({ params, rng })
  ignoreRejection(started)
  if (!isObject(started))
    throw rulesFailed(
      `\`start\` of ${environment.name} returned ${started === null ? 'null' : typeof started}, and has to return the state that the episode begins with.`,
    )
  const { own } = environment.state
  const present = environment.present(params)
  const state = {
    public: startedPart('public', environment.state.public, started.public),
    ...(own && { own: bySeat(present, (seat) => startedPart(`own state of ${seat}`, own, started.own?.[seat])) }),
    private: startedPart('private', environment.state.private, started.private),
  }
  const observe = (seat: string) => observeState(environment, state, params, seat)
  const start = { state, rng: rng.save(), ...observe(present[0] as string) }
  if (!environment.multiplayer) return start
  const turn = environment.turn(state, params).filter((seat) => present.includes(seat))
  if (turn.length > 0) return { ...start, seats: bySeat(present, observe), turn }
  throw rulesFailed(
    `At the start of ${environment.name} no seat that plays is in turn, so that the episode would never go on. Let \`turn\` name one of ${present.join(', ')}.`,
  )

  function startedPart(part: string, schema: z.ZodType, value: unknown): JsonObject {
    const parsed = parseStartPart(schema, value)
    if (typeof parsed !== 'string') return parsed
    throw rulesFailed(`The start of ${environment.name} gave a ${part} state that cannot be kept: ${parsed}.`)
  }
}
