import { ServerError } from '@episodic/mcp-server'
import { type Action, canonicalJson, type JsonObject } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import type { TabledOutcome, TransitionTable } from './transition-table.ts'

export interface ValueIterationOptions {
  /** Default `optimal`. */
  readonly policy?: SolvedPolicy
  /** Steps until an episode is cut off, or `Infinity`. Default: the limit of the environment. */
  readonly steps?: number
  /** Weight of the next step's reward relative to this one's, from 0 to 1. Default 1. */
  readonly discount?: number
}

/** Expected returns of a policy, and its actions. */
export interface Values {
  /** The expected return of an episode, over its starts. */
  readonly start: number
  /**
   * Returns the expected return from a state with `left` steps to go. Default: all. Throws a `RangeError` for an
   * unknown one.
   */
  value(state: SessionState, left?: number): number
  /**
   * Returns the action in a state with `left` steps to go; of the best ones, one whose episodes are expected to be the
   * shortest. Throws a `RangeError` for an unknown state and for the uniform policy.
   */
  action(state: SessionState, left?: number): Action
}

/** The values of all states with the same number of steps to go. */
interface Sweep {
  readonly values: readonly number[]
  /** Expected steps to the end, to choose between equally good actions. */
  readonly lengths: readonly number[]
  readonly choices: readonly number[]
}

/** Values that differ by less are equal up to rounding. */
const ROUNDING = 1e-12

/** Without a limit of steps, the values are final when a sweep changes none of them by more than this share. */
const CONVERGED = 1e-15

const MOST_SWEEPS = 100_000

/**
 * Computes expected returns by value iteration (Sutton and Barto, Reinforcement Learning, 2nd edition, sections 4.1 and
 * 4.4): for a limit of steps it is exact, because each sweep stands for one more step.
 *
 * Reward terms that depend on being cut off are not known to a table. Throws `option-invalid` if values without a limit
 * of steps do not converge within 100,000 sweeps.
 */
export function valueIteration(
  table: TransitionTable,
  { policy = 'optimal', steps = table.steps, discount = 1 }: ValueIterationOptions = {},
): Values {
  const choices =
    typeof policy === 'function' ? table.states.map((state, at) => indexOf(table, at, policy(state.public))) : policy
  const zeros = table.states.map(() => 0)
  let last: Sweep = { values: zeros, lengths: zeros, choices: zeros }
  const sweeps = [last]
  for (let left = 1; left <= steps; left++) {
    const next = sweep(table, last, discount, choices)
    if (Number.isFinite(steps)) sweeps.push(next)
    else if (isConverged(last.values, next.values)) break
    else if (left === MOST_SWEEPS)
      throw new ServerError(
        'option-invalid',
        `The values do not converge within ${MOST_SWEEPS} sweeps. Set a limit of steps.`,
      )
    last = next
  }
  const at = (state: SessionState, left = steps) => {
    const known = Number.isFinite(steps) ? sweeps[left] : last
    if (!known) throw new RangeError(`The values are for at most ${steps} steps, and not for ${left}.`)
    const number = table.numberOf(state)
    return { number, known }
  }
  return {
    start: table.starts.reduce((sum, { probability, state }) => sum + probability * (last.values[state] as number), 0),
    value(state, left) {
      const { number, known } = at(state, left)
      return known.values[number] as number
    },
    action(state, left) {
      const { number, known } = at(state, left)
      const action = policy === 'uniform' ? undefined : table.actions[number]?.[known.choices[number] as number]
      if (!action) throw new RangeError('There is no one action in this state.')
      return action
    },
  }
}

/** One step more to go: the values of all states from those with one step less. */
function sweep(
  table: TransitionTable,
  next: Sweep,
  discount: number,
  policy: readonly number[] | 'optimal' | 'uniform',
): Sweep {
  const values: number[] = []
  const lengths: number[] = []
  const choices: number[] = []
  for (const [state, byAction] of table.outcomes.entries()) {
    let value = policy === 'uniform' || byAction.length === 0 ? 0 : Number.NEGATIVE_INFINITY
    let length = 0
    let choice = 0
    for (const [action, outcomes] of byAction.entries()) {
      if (typeof policy === 'object' && policy[state] !== action) continue
      const expected = expect(outcomes, next, discount)
      if (policy === 'uniform') {
        value += expected.value / byAction.length
        continue
      }
      const isEqual = Math.abs(expected.value - value) <= ROUNDING
      if (isEqual ? expected.length >= length - ROUNDING : expected.value < value) continue
      value = isEqual ? Math.max(value, expected.value) : expected.value
      length = expected.length
      choice = action
    }
    values.push(value)
    lengths.push(length)
    choices.push(choice)
  }
  return { values, lengths, choices }
}

function expect(outcomes: readonly TabledOutcome[], next: Sweep, discount: number) {
  let value = 0
  let length = 1
  for (const { probability, next: state, reward, done } of outcomes) {
    value += probability * (reward + (done ? 0 : discount * (next.values[state] as number)))
    if (!done) length += probability * (next.lengths[state] as number)
  }
  return { value, length }
}

function isConverged(before: readonly number[], after: readonly number[]): boolean {
  return after.every(
    (value, state) => Math.abs(value - (before[state] as number)) <= CONVERGED * Math.max(1, Math.abs(value)),
  )
}

function indexOf(table: TransitionTable, state: number, action: Action): number {
  const wanted = canonicalJson({ ...action })
  const index = (table.actions[state] ?? []).findIndex((legal) => canonicalJson({ ...legal }) === wanted)
  if (index < 0) throw new ServerError('option-invalid', `The policy returned ${wanted}, which is not a legal action.`)
  return index
}

/**
 * Whose returns are computed: the best policy's, the one's that takes every legal action equally often, or that of a
 * function from the public state to an action.
 */
export type SolvedPolicy = 'optimal' | 'uniform' | ((state: JsonObject) => Action)
