import type { Action } from '@episodic/protocol'
import type { SessionState } from '@episodic/state'
import type { TabledOutcome, TransitionTable } from './transition-table.ts'

export interface Values {
  readonly start: number
  /**
   * Returns the action in a state with `left` steps to go; of the best ones, one whose episodes are expected to be the
   * shortest. Throws a `RangeError` for an unknown state, more steps than planned for, and the uniform policy.
   */
  action(state: SessionState, left?: number): Action
}

/** With the same number of steps to go, by state. */
interface Sweep {
  readonly values: readonly number[]
  /** Expected steps to the end, to choose between equally good actions. */
  readonly lengths: readonly number[]
  readonly choices: readonly number[]
}

/** Returns that differ by less are equal. */
const ROUNDING = 1e-12

/**
 * Computes expected returns by value iteration (Sutton and Barto, Reinforcement Learning, 2nd edition, section 4.4): it
 * is exact, because each sweep stands for one more step. Reward terms that depend on being cut off are not known to a
 * table.
 *
 * @param policy - the best one (default), or the one that takes every legal action equally often.
 * @param steps - until an episode is cut off. Default: the limit of the environment.
 */
export function valueIteration(
  table: TransitionTable,
  {
    policy = 'optimal',
    steps = table.steps,
  }: { readonly policy?: 'optimal' | 'uniform'; readonly steps?: number } = {},
): Values {
  const zeros = table.states.map(() => 0)
  const sweeps: Sweep[] = [{ values: zeros, lengths: zeros, choices: zeros }]
  for (let left = 1; left <= steps; left++)
    sweeps.push(
      policy === 'uniform' ? spread(table, sweeps[left - 1] as Sweep) : choose(table, sweeps[left - 1] as Sweep),
    )
  const { values } = sweeps[steps] as Sweep
  return {
    start: table.starts.reduce((sum, { probability, state }) => sum + probability * (values[state] as number), 0),
    action(state, left = steps) {
      const number = table.numberOf(state)
      const action = table.actions[number]?.[sweeps[left]?.choices[number] ?? -1]
      if (!action) throw new RangeError(`There is no one action in this state with ${left} of ${steps} steps left.`)
      return action
    },
  }
}

/** One step more to go, with the best action in each state. */
function choose(table: TransitionTable, next: Sweep): Sweep {
  const best = table.outcomes.map((byAction) => {
    let best = { value: byAction.length === 0 ? 0 : Number.NEGATIVE_INFINITY, length: 0, choice: 0 }
    for (const [choice, outcomes] of byAction.entries()) {
      const { value, length } = expected(outcomes, next)
      const isEqual = Math.abs(value - best.value) <= ROUNDING
      if (isEqual ? length < best.length - ROUNDING : value > best.value)
        best = { value: isEqual ? Math.max(value, best.value) : value, length, choice }
    }
    return best
  })
  return {
    values: best.map(({ value }) => value),
    lengths: best.map(({ length }) => length),
    choices: best.map(({ choice }) => choice),
  }
}

/** One step more to go, with every action equally often. */
function spread(table: TransitionTable, next: Sweep): Sweep {
  const values = table.outcomes.map((byAction) =>
    byAction.reduce((sum, outcomes) => sum + expected(outcomes, next).value / byAction.length, 0),
  )
  return { values, lengths: next.lengths, choices: [] }
}

function expected(outcomes: readonly TabledOutcome[], next: Sweep) {
  let value = 0
  let length = 1
  for (const { probability, next: state, reward, done } of outcomes) {
    value += probability * (reward + (done ? 0 : (next.values[state] as number)))
    if (!done) length += probability * (next.lengths[state] as number)
  }
  return { value, length }
}
