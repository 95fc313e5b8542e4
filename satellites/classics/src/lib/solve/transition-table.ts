import { type EnvironmentDefinition, ServerError } from '@episodic/mcp-server'
import { type Action, canonicalJson, DEFAULT_LIMITS, type Json, type JsonObject } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { listActions } from './listed-actions.ts'
import { listOutcomes, listStarts } from './outcomes.ts'

export interface TransitionTableOptions {
  /** Default: the environment's own. */
  readonly params?: JsonObject
  /**
   * The states, in the order of their numbers; they may include some that no play reaches. Default: every state that
   * play can reach, in the order of discovery.
   */
  readonly states?: readonly SessionState[]
  /** Returns the part of a state that decides what follows: states that are equal in it are one. Default: all of it. */
  readonly keyOf?: (state: SessionState) => Json
}

export interface TabledOutcome {
  readonly probability: number
  readonly next: number
  readonly reward: number
  /** Whether the rules ended the episode. */
  readonly done: boolean
}

/** The whole dynamics of a small environment: what every action may lead to from every state. */
export interface TransitionTable {
  readonly states: readonly SessionState[]
  readonly actions: readonly (readonly Action[])[]
  /** By state and action, in the order in which the rules draw. `next` is the number of a state. */
  readonly outcomes: readonly (readonly (readonly TabledOutcome[])[])[]
  readonly starts: readonly { readonly probability: number; readonly state: number }[]
  readonly steps: number
  /** Returns the number of a state. Throws a `RangeError` for one that is not in the table. */
  numberOf(state: SessionState): number
  /**
   * One line for each outcome: `state action probability next reward done`, with at most 12 significant digits and
   * `done` as 0 or 1, ordered by state, then action. Every line ends with a newline.
   */
  readonly text: string
  /** The SHA-256 of the text, in hexadecimal: equal for implementations with equal dynamics, in any language. */
  readonly sha256: string
}

/** States that are discovered before the search is given up. */
const MOST_STATES = 100_000

/**
 * Plays every legal action in every state by the environment's own rules, with every draw of theirs in each way that it
 * can go. The private state is part of a state, so a table knows more than a player of an environment with secrets.
 *
 * Throws `option-invalid` for several seats, if the rules draw with `rng.float`, legal actions are not enumerated or
 * are refused, or there are more than 100,000 states, and a `RangeError` if an action leads out of the given states.
 */
export function transitionTable(
  environment: EnvironmentDefinition,
  { params = {}, states: given, keyOf = (state) => ({ ...state }) }: TransitionTableOptions = {},
): TransitionTable {
  const { name, seats: names } = environment
  if (names.length > 1)
    throw new ServerError('option-invalid', `${name} has several seats, and a table is of one player. Use gameTree.`)
  const parsed = environment.params.parse(params) as JsonObject
  const states = [...(given ?? [])]
  const numbers = new Map(states.map((state, number) => [canonicalJson(keyOf(state)), number]))
  const numberOf = (state: SessionState): number => {
    const number = numbers.get(canonicalJson(keyOf(state)))
    if (number !== undefined) return number
    throw new RangeError(`${canonicalJson({ ...state })} is not in the table of ${name}.`)
  }
  const find = (state: SessionState): number => {
    const key = canonicalJson(keyOf(state))
    if (given || numbers.has(key)) return numberOf(state)
    if (states.length === MOST_STATES)
      throw new ServerError('option-invalid', `${name} has more than ${MOST_STATES} states.`)
    numbers.set(key, states.length)
    return states.push(state) - 1
  }
  const opened = listStarts(environment, parsed)
  const { turn, seats } = (opened[0] as (typeof opened)[number]).value
  const starts = opened.map(({ probability, value }) => ({ probability, state: find(value.state) }))
  const actions: Action[][] = []
  const outcomes: TabledOutcome[][][] = []
  // `states` grows while the table is filled: a list is visited to its end, wherever that is by then.
  for (const state of states) {
    const legal = listActions(environment, state, parsed)
    actions.push(legal)
    const play = (action: Action) => listOutcomes(environment, parsed, { state, turn, seats }, action)
    outcomes.push(
      legal.map((action) =>
        play(action).map(({ probability, value: { state: next, rewards, next: goesOn } }) => ({
          probability,
          next: find(next),
          reward: rewards[0] as number,
          done: goesOn === null,
        })),
      ),
    )
  }
  const text = formatTable(outcomes)
  const { steps = DEFAULT_LIMITS.steps } = environment.limitsFor(parsed)
  return { states, actions, outcomes, starts, steps, numberOf, text, sha256: bytesToHex(sha256(utf8ToBytes(text))) }
}

function formatTable(outcomes: TransitionTable['outcomes']): string {
  const short = (value: number) => String(Number(value.toPrecision(12)))
  return outcomes
    .flatMap((byAction, state) =>
      byAction.flatMap((branches, action) =>
        branches.map(
          ({ probability, next, reward, done }) =>
            `${state} ${action} ${short(probability)} ${next} ${short(reward)} ${done ? 1 : 0}\n`,
        ),
      ),
    )
    .join('')
}
