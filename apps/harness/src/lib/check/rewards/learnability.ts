import type { Policy } from '@episodic/env'
import { createRng, type Rng, seedFor } from '@episodic/protocol'
import { clusteredMean } from '../../report/fold/statistics.ts'
import { type Examined, examined, skipped } from '../check-report.ts'
import type { Finding } from '../finding.ts'
import { rehearseEpisode } from '../rehearsed-episode.ts'
import type { Setting, Subject } from '../subject.ts'
import { waywardPolicy } from '../wayward-policy.ts'
import { discreteActions } from './discrete-actions.ts'
import { featuresOf } from './public-features.ts'
import { copySolver } from './solver-copy.ts'
import { sparkline } from './sparkline.ts'
import { randomWalks, rollOut, type TableStart, type TableWorld, tableStarts } from './table-rollout.ts'
import { TabularLearner } from './tabular-learner.ts'

/** Episodes of the solver that a table is copied from. */
const COPIED = 256
/** Steps that the learner may take, and points of its curve. */
const BUDGET = 120_000
const POINTS = 12
/** Most and least share of actions that are tried out, and the share of the budget in which it falls. */
const EXPLORATION = { most: 1, least: 0.05, falling: 0.8 }
/** The share of actions that is still tried out where it is measured: else it may stand before a wall for ever. */
const RESTLESSNESS = 0.02
/** How much of the way from random play to the solver is enough to call a world learnable. */
const ENOUGH = 0.1
/** How much of it is as good as all. */
const ARRIVED = 0.95
/** How much of it a learner has to be past the solver to have found something better than what the solver does. */
const BEYOND = 0.05

/**
 * Lets a small learner loose on the easiest setting of the world and sees whether it gets from random play towards the
 * solver: a table over what of the public state may ask for different actions. It tries out the rewards and what a player
 * is told; of any other learner, and of harder settings, it says nothing. Where even a table that copies the solver gets nowhere,
 * the check is skipped: then the fault is the table's.
 */
export async function checkLearnability(subject: Subject): Promise<Examined> {
  const { world, seed } = subject
  const { solver = null } = world
  const setting = easiest(subject.settings)
  const discrete = await discreteActions(world, setting, seed)
  if (!discrete) return skipped('learnability', 'its actions are too many, or too few, to try them one by one')
  const { actions, watched } = discrete
  const rng = createRng(seedFor(seed, 'learnability'))
  const starts = tableStarts(world, setting, seed)
  const features = featuresOf(randomWalks(world, setting, actions, rng))
  const table: TableWorld = { world, setting, actions, features }
  const learner = new TabularLearner(actions.length)
  const measure = (choose: (state: string) => number) =>
    starts.measured.map((start) => rollOut(table, start, choose).total)
  const learned = () => measure((state) => learner.choose(state, RESTLESSNESS, rng))

  const random = measure(() => rng.int(0, actions.length - 1))
  const curve = [mean(random)]
  const solved = solver && (await measuredSolver(table, solver, starts.measured))
  const best = solved && mean(solved)
  let steps = 0
  for (let point = 1; point <= POINTS && !hasArrived(curve, best); point++) {
    subject.signal?.throwIfAborted()
    subject.onProgress(point, POINTS)
    while (steps < (BUDGET * point) / POINTS) {
      const { most, least, falling } = EXPLORATION
      const exploration = Math.max(least, most - ((most - least) * steps) / (falling * BUDGET))
      const { episode, next } = rollOut(table, starts.next(rng), (state) => learner.choose(state, exploration, rng))
      learner.learn(episode, next)
      steps += episode.length
    }
    curve.push(mean(learned()))
  }
  const final = learned()
  const beats = (other: readonly number[]) => significantlyMore(final, other)
  const [from, to] = [mean(random), mean(final)]
  const moved = best === null ? null : (to - from) / (best - from)
  const isLearned = beats(random) && (moved ?? 1) >= ENOUGH
  if (!isLearned) {
    const copied = solver && (await copySolver(table, solver, solverStarts(starts, rng)))
    const copy = copied && mean(measure((state) => copied.get(state) ?? rng.int(0, actions.length - 1)))
    // Where the solver earns no more than random play, it is no measure of the table.
    const isShown =
      copy === null || best === null ? learner.states > 1 : best <= from || (copy - from) / (best - from) >= ENOUGH
    if (!isShown) return skipped('learnability', tooSmall(learner.states, copy, from))
  }
  const findings = isLearned ? [] : [unlearned(from, to, steps, setting, seed)]
  // Where it is measured on what it has met, a learner may know more than a solver that has not.
  if (solved && best !== null && starts.unseen && to - best > BEYOND * Math.abs(best - from) && beats(solved))
    findings.push(outdone(best, to, setting, seed))
  const ofSolver = watched.length > 0 ? `, of ${watched.join(' and ')} what the solver plays` : ''
  const way = moved === null ? '' : `, ${Math.round(moved * 100)} % of the way to the solver’s ${best?.toFixed(3)}`
  return examined(
    'learnability',
    `${sparkline(curve)} a table of ${learner.states} states and ${actions.length} actions${ofSolver} went from ${from.toFixed(3)} to ${to.toFixed(3)}${way}`,
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

/** Why nothing can be said: rows of the table stand for states that ask for different actions. */
function tooSmall(states: number, copy: number | null, random: number): string {
  const held = 'the public state does not hold what a good action depends on, such as what was said before'
  if (copy === null) return `${held}: all of it is ${states} state of a table`
  return `${held}: a table of it that copies the solver earns ${copy.toFixed(3)}, and random play ${random.toFixed(3)}`
}

/** Starts on which the solver is watched: those that a learner practises on. */
function solverStarts({ next }: ReturnType<typeof tableStarts>, rng: Rng): TableStart[] {
  return Array.from({ length: COPIED }, () => next(rng))
}

function unlearned(random: number, learned: number, steps: number, { params }: Setting, seed: string): Finding {
  return {
    name: 'not-learned',
    what: `After ${steps} steps a learner earns ${learned.toFixed(3)}, and random play ${random.toFixed(3)}.`,
    again: `params ${JSON.stringify(params)}, check seed ${seed}`,
    advice:
      'See that rewards tell good actions from bad ones soon after they are made, that easy tasks are easy, and that the public state has what an action depends on.',
  }
}

function outdone(solver: number, learned: number, { params }: Setting, seed: string): Finding {
  return {
    name: 'solver-outdone',
    what: `A learner earns ${learned.toFixed(3)}, and the solver ${solver.toFixed(3)}: something else is paid better than what is asked for.`,
    again: `params ${JSON.stringify(params)}, check seed ${seed}`,
    advice:
      'See what it does instead, such as staying where every step is paid, and pay for what the task asks for, once. Where it does what is asked, and better, give the world a better solver.',
  }
}

/** Whether some earn more than others do of the same tasks, and not by chance. */
function significantlyMore(some: readonly number[], others: readonly number[]): boolean {
  const gain = clusteredMean(
    some.map((total, i) => total - (others[i] as number)),
    some.map((_, i) => i),
  )
  return gain !== null && gain.mean > 0 && (gain.low ?? gain.mean) > 0
}

/** Whether the last two points of a curve are as good as the solver: then there is nothing more to see. */
function hasArrived(curve: readonly number[], best: number | null): boolean {
  const [from = 0] = curve
  return best !== null && curve.length > 2 && curve.slice(-2).every((value) => value - from >= ARRIVED * (best - from))
}

/** What the solver earns from the same starts. One that loses its way in a swapped state goes on at random. */
async function measuredSolver(
  { world: { environment }, setting }: TableWorld,
  solver: Policy,
  starts: readonly TableStart[],
): Promise<number[]> {
  const policy = waywardPolicy(solver, { random: 0, wrong: 0 })
  const earned: number[] = []
  for (const start of starts) earned.push((await rehearseEpisode({ environment, setting, policy, ...start })).total)
  return earned
}

function easiest(settings: readonly Setting[]): Setting {
  const difficulty = ({ task }: Setting) => task?.difficulty ?? Number.POSITIVE_INFINITY
  return settings.toSorted((a, b) => difficulty(a) - difficulty(b))[0] as Setting
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
