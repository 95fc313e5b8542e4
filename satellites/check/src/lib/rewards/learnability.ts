import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Policy } from '@episodic/env'
import { createRng, seedFor } from '@episodic/protocol'
import { clusteredMean } from '@episodic/report/fold/statistics'
import type { CheckContext, Setting } from '../check-context.ts'
import { type CheckOutcome, checkOutcome, skipped } from '../check-report.ts'
import type { Finding } from '../finding.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import { discreteActions } from './discrete-actions.ts'
import { playLearner } from './learner-episode.ts'
import { stateKeyOf } from './state-key.ts'
import { copySolver, randomWalks, rollOut, type TableStart, type TableWorld, tableStarts } from './table-episodes.ts'
import { TabularLearner } from './tabular-learner.ts'

/** Episodes of the solver from which a table is copied. */
const COPIED = 256
/** Training steps of the learner, and points of its learning curve. */
const BUDGET = 120_000
const POINTS = 12
/** Exploration rate ε: its first and last value, and the share of the budget over which it falls. */
const EXPLORATION = { most: 1, least: 0.05, falling: 0.8 }
/** ε of the evaluation. With 0, a greedy policy may repeat a useless action until the step limit. */
const EVALUATION_EPSILON = 0.02
/** A world is learnable if the learner covers this share of the gap between random play and the solver. */
const ENOUGH = 0.1
/** From this share on, training stops. */
const ARRIVED = 0.95
/** A learner beats the solver if it exceeds it by this share of the gap. */
const BEYOND = 0.05

/**
 * Trains a tabular learner on the easiest setting and checks whether it improves from random play towards the solver.
 * The table is indexed by those parts of what the learner sees of the state that may call for different actions. This
 * tests the rewards and what is seen; it says nothing about other learners and harder settings. If even a table copied
 * from the solver earns no more than random play, the table is too weak, and the check is skipped.
 */
export async function checkLearnability(context: CheckContext): Promise<CheckOutcome> {
  const { world, learner: role, seed } = context
  const { solver = null } = world
  if (!role)
    return skipped(
      'learnability',
      'what a learner of one seat can earn depends on the others: name them with --seat <seat>=<policy>, or walk a small game with gameTree',
    )
  const setting = easiest(context.settings)
  const discrete = await discreteActions(world, setting, role, seed)
  if (!discrete) return skipped('learnability', 'it has too many actions, or too few, for a table')
  const { actions, watched } = discrete
  const rng = createRng(seedFor(seed, 'learnability'))
  const starts = tableStarts(world, setting, role, seed)
  const features = stateKeyOf(await randomWalks({ world, setting, learner: role, actions }, rng))
  const table: TableWorld = { world, setting, learner: role, actions, features }
  const learner = new TabularLearner(actions.length)
  const measure = async (choose: (state: string) => number) => {
    const totals: number[] = []
    for (const start of starts.measured) totals.push((await rollOut(table, start, choose)).total)
    return totals
  }
  const learned = () => measure((state) => learner.choose(state, EVALUATION_EPSILON, rng))

  const random = await measure(() => rng.int(0, actions.length - 1))
  const curve = [mean(random)]
  const solved = solver && (await measuredSolver(table, solver, starts.measured))
  const best = solved && mean(solved)
  let steps = 0
  for (let point = 1; point <= POINTS && !hasArrived(curve, best); point++) {
    context.signal?.throwIfAborted()
    context.onProgress(point, POINTS)
    // Its progress is shown, and Ctrl-C can end it.
    await nextTurn()
    while (steps < (BUDGET * point) / POINTS) {
      const { most, least, falling } = EXPLORATION
      const exploration = Math.max(least, most - ((most - least) * steps) / (falling * BUDGET))
      const choose = (state: string) => learner.choose(state, exploration, rng)
      const { episode, next } = await rollOut(table, starts.next(rng), choose)
      learner.learn(episode, next)
      steps += episode.length
    }
    curve.push(mean(await learned()))
  }
  const final = await learned()
  const beats = (other: readonly number[]) => significantlyMore(final, other)
  const [from, to] = [mean(random), mean(final)]
  // Of a solver that earns no more than random play, there is no way to go.
  const moved = best === null || best <= from ? null : (to - from) / (best - from)
  const isLearned = beats(random) && (moved ?? 1) >= ENOUGH
  if (!isLearned) {
    const watchedStarts = Array.from({ length: COPIED }, () => starts.next(rng))
    const copied = solver && (await copySolver(table, solver, watchedStarts))
    const copy = copied && mean(await measure((state) => copied.get(state) ?? rng.int(0, actions.length - 1)))
    // A solver that earns no more than random play cannot show whether the table suffices.
    const isShown =
      copy === null || best === null ? learner.states > 1 : best <= from || (copy - from) / (best - from) >= ENOUGH
    if (!isShown) return skipped('learnability', tooSmall(learner.states, copy, from))
  }
  const again = `params ${JSON.stringify(setting.params)}, check seed ${seed}`
  const findings: Finding[] = []
  if (!isLearned)
    findings.push({
      name: 'not-learned',
      what: `After ${steps} steps a learner earns ${to.toFixed(3)}, and random choice among its actions ${from.toFixed(3)}.`,
      again,
      advice:
        'Reward good actions soon after they are taken, keep easy tasks easy, and put what an action depends on into the public state.',
    })
  // Only unseen starts are fair: on those that it was trained on, a learner may know more than the solver. So may one
  // that has played the same opponent for long.
  const isFair = starts.unseen && world.environment.utility !== 'zero-sum'
  if (solved && best !== null && isFair && to - best > BEYOND * Math.abs(best - from) && beats(solved))
    findings.push({
      name: 'solver-beaten',
      what: `A learner earns ${to.toFixed(3)}, and the solver ${best.toFixed(3)}: something earns more than solving the task.`,
      again,
      advice:
        'Find out what it does instead, for example collecting a reward at every step, and reward what the task asks for, once. If it solves the task better, improve the solver.',
    })
  const ofSolver = watched.length > 0 ? ` (of ${watched.join(' and ')} those that the solver plays)` : ''
  const way = moved === null ? '' : `, ${Math.round(moved * 100)} % of the way to the solver’s ${best?.toFixed(3)}`
  return checkOutcome(
    'learnability',
    `a table of ${learner.states} states and ${actions.length} actions${ofSolver} went from ${from.toFixed(3)} to ${to.toFixed(3)}${way}`,
    {
      findings,
      figures: {
        params: setting.params,
        actions: actions.length,
        states: learner.states,
        steps,
        curve,
        random: from,
        learned: to,
        solver: best,
        moved,
      },
    },
  )
}

/** Why the table proves nothing: its rows merge states that call for different actions. */
function tooSmall(states: number, copy: number | null, random: number): string {
  const lacking = 'the public state lacks what a good action depends on, for example earlier answers'
  if (copy === null) return `${lacking}: it has ${states} distinct state`
  return `${lacking}: a table that copies the solver earns ${copy.toFixed(3)}, and random choice among its actions ${random.toFixed(3)}`
}

function significantlyMore(some: readonly number[], others: readonly number[]): boolean {
  const gains = some.map((total, i) => total - (others[i] as number))
  const gain = clusteredMean(gains, [...gains.keys()])
  return gain !== null && gain.mean > 0 && (gain.low ?? gain.mean) > 0
}

function hasArrived(curve: readonly number[], best: number | null): boolean {
  const [from = 0] = curve
  return (
    best !== null &&
    best > from &&
    curve.length > 2 &&
    curve.slice(-2).every((value) => value - from >= ARRIVED * (best - from))
  )
}

/** The returns of the solver from the same starts. If it throws in a swapped state, it goes on at random. */
async function measuredSolver(
  { world: { environment }, setting, learner }: TableWorld,
  solver: Policy,
  starts: readonly TableStart[],
): Promise<number[]> {
  const policy = noisyPolicy(solver, { random: 0, invalid: 0 })
  const earned: number[] = []
  for (const start of starts)
    earned.push((await playLearner({ environment, setting, learner, policy, ...start })).total)
  return earned
}

function easiest(settings: readonly Setting[]): Setting {
  const difficulty = ({ task }: Setting) => task?.difficulty ?? Number.POSITIVE_INFINITY
  return settings.toSorted((a, b) => difficulty(a) - difficulty(b))[0] as Setting
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
