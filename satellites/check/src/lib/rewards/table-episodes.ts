import { definePolicy, type Policy } from '@episodic/env'
import { rehearse } from '@episodic/mcp-server'
import { type Action, canonicalJson, type Json, type JsonObject, type Rng, seedFor } from '@episodic/protocol'
import type { CheckedWorld, Learner, Setting } from '../check-context.ts'
import { drawDeals, keepsHidden, seenBy } from '../deal.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import { type PlayedStep, returnsOf, rewardOf, startEpisode, truncationAt } from '../rehearsed-episode.ts'
import type { DiscreteActions } from './discrete-actions.ts'
import { learnerView, playLearner } from './learner-episode.ts'
import type { Experience } from './tabular-learner.ts'

/** Step limit of a learner's episode. */
const LONGEST = 120
/** Starts that a learner is evaluated on. */
const MEASURED = 48
/** Starts of training, if a table cannot generalize to others. */
const MET = 12

export interface TableStart {
  readonly seed: string
  readonly privateState?: JsonObject
}

export interface TableWorld {
  readonly world: CheckedWorld
  readonly setting: Setting
  readonly learner: Learner
  readonly actions: DiscreteActions['actions']
  readonly features: (state: JsonObject) => string
}

export interface Rollout {
  /** The steps. Rewards are shaped if the world has a potential. */
  readonly episode: readonly Experience[]
  /** The row after the last step; `null` if the episode terminated. */
  readonly next: string | null
  readonly total: number
}

/**
 * Starts for training and evaluation. If all seeds have the same initial public state, training draws a new seed each
 * time and evaluation uses unseen ones, and in a game if few seeds have all that the learner sees at the start.
 * Otherwise both use the same few private states with one public state, or few seeds of a game, because a table cannot
 * generalize to states that it has never seen.
 */
export function tableStarts({ environment }: CheckedWorld, setting: Setting, { seat }: Learner, seed: string) {
  const deals = drawDeals(environment, setting, seedFor(seed, 'learnability'), MEASURED)
  const [first] = deals
  const seen = new Set(deals.map(({ state }) => seenBy(state, seat)))
  if (seen.size <= (environment.multiplayer ? MET : 1) || !first)
    return {
      unseen: true,
      measured: Array.from({ length: MEASURED }, (_, i): TableStart => ({ seed: seedFor(seed, 'measured', i) })),
      next: (rng: Rng): TableStart => ({ seed: seedFor(seed, 'practice', rng.int(0, 1_000_000_000)) }),
    }
  const starts = environment.multiplayer
    ? deals.map(({ seed: own }): TableStart => ({ seed: own }))
    : deals
        .filter(({ state }) => keepsHidden(environment, state))
        .map(({ state }): TableStart => ({ seed: first.seed, privateState: state.private }))
  const met = starts.slice(0, MET)
  const measured = Array.from({ length: MEASURED }, (_, i) => met[i % met.length] as TableStart)
  return { unseen: false, measured, next: (rng: Rng): TableStart => rng.pick(met) }
}

/**
 * Plays one episode to its end. `choose` returns the number of an action for a row. Rejects with what the rules throw.
 */
export function rollOut(table: TableWorld, start: TableStart, choose: (state: string) => number): Promise<Rollout> {
  return table.world.environment.multiplayer ? rollOutSeat(table, start, choose) : rollOutAlone(table, start, choose)
}

/** Plays the rules directly: what else an episode has would cost more than most rules, at each of a learner's steps. */
async function rollOutAlone(
  { world: { environment }, setting, actions, features }: TableWorld,
  start: TableStart,
  choose: (state: string) => number,
): Promise<Rollout> {
  const prepares = Object.values(environment.tools).some(({ preparation }) => preparation)
  const rehearsal = rehearse(environment, { params: setting.params, ...start })
  const episode: Experience[] = []
  let potential = rehearsal.start.potential ?? 0
  let total = 0
  let state = features(rehearsal.state.public)
  while (rehearsal.end === null && episode.length < Math.min(setting.steps, LONGEST)) {
    const action = choose(state)
    const { tool, arguments: args } = actions[action] as Action
    const prepared = prepares ? await rehearsal.prepare(tool, args) : undefined
    const step = rehearsal.play(tool, args, { truncation: truncationAt(episode.length, setting), prepared })
    const after = step.end?.kind === 'terminated' ? 0 : (step.potential ?? 0)
    const reward = rewardOf(step)
    total += reward
    episode.push({ state, action, reward: reward + after - potential })
    potential = after
    state = features(rehearsal.state.public)
  }
  return { episode, next: rehearsal.end?.kind === 'terminated' ? null : state, total }
}

/** Plays one seat of a game, with the partners. A game shapes no rewards. */
async function rollOutSeat(
  { world: { environment }, setting, learner, actions, features }: TableWorld,
  start: TableStart,
  choose: (state: string) => number,
): Promise<Rollout> {
  const episode: Experience[] = []
  let state = ''
  let action = 0
  const policy = definePolicy({
    name: 'table',
    start: () => () => {
      state = features(learnerView(ongoing.episode.rehearsal.state, learner))
      action = choose(state)
      return actions[action] as Action
    },
  })
  const ongoing = await startEpisode({ environment, setting, policy, policies: learner.partners, ...start })
  const { rehearsal } = ongoing.episode
  let total = 0
  let left = false
  while (!left && episode.length < LONGEST && (await ongoing.advance())) {
    const step = ongoing.episode.steps.at(-1) as PlayedStep
    const reward = returnsOf(step)[learner.seat] ?? 0
    total += reward
    const last = episode.at(-1)
    if (step.seat === learner.seat) episode.push({ state, action, reward })
    // What others' steps earn the learner, its last own step has brought about.
    else if (last) episode[episode.length - 1] = { ...last, reward: last.reward + reward }
    left = step.seats?.ends?.[learner.seat] !== undefined
  }
  if (ongoing.episode.fault) throw ongoing.episode.fault
  const isOver = left || rehearsal.end?.kind === 'terminated'
  return { episode, next: isOver ? null : features(learnerView(rehearsal.state, learner)), total }
}

export async function randomWalks(
  { world: { environment }, setting, learner, actions }: Omit<TableWorld, 'features'>,
  rng: Rng,
): Promise<JsonObject[][]> {
  const walks: JsonObject[][] = []
  const policy = definePolicy({ name: 'random walk', start: () => () => rng.pick(actions) })
  for (let i = 0; i < WALKS; i++) {
    const seed = `walk ${i}`
    const ongoing = await startEpisode({ environment, setting, policy, policies: learner.partners, seed })
    const view = () => learnerView(ongoing.episode.rehearsal.state, learner)
    const walk: JsonObject[] = [view()]
    while (walk.length < Math.min(setting.steps, LONGEST) && (await ongoing.advance())) {
      // A refused step changes nothing, so it would hide the clocks.
      if (!ongoing.episode.steps.at(-1)?.refused) walk.push(view())
      else if (rng.chance(0.05)) break
    }
    walks.push(walk)
  }
  return walks
}
const WALKS = 20

/**
 * The action that the solver plays most often in each row. If such a table earns much less than the solver, rows merge
 * states in which the solver plays differently, so no table can learn the task.
 */
export async function copySolver(
  { world: { environment }, setting, learner, actions, features }: TableWorld,
  solver: Policy,
  starts: readonly TableStart[],
): Promise<ReadonlyMap<string, number>> {
  // If the solver throws in a swapped private state, it goes on at random.
  const policy = noisyPolicy(solver, { random: 0, invalid: 0 })
  const numbers = new Map(actions.map((action, i) => [toActionKey(action), i]))
  const rows = new Map<string, Map<number, number>>()
  for (const start of starts) {
    const { rehearsal, steps } = await playLearner({ environment, setting, learner, policy, ...start })
    let { state } = rehearsal.start
    for (const { seat, action, change } of steps) {
      const number = seat === learner.seat ? numbers.get(toActionKey(action)) : undefined
      const seen = features(learnerView(state, learner))
      const row = rows.get(seen) ?? new Map<number, number>()
      if (number !== undefined) rows.set(seen, row.set(number, (row.get(number) ?? 0) + 1))
      if (change) state = change.state
    }
  }
  const mostOften = (counts: ReadonlyMap<number, number>) =>
    [...counts].reduce((most, next) => (next[1] > most[1] ? next : most))[0]
  return new Map([...rows].map(([row, counts]) => [row, mostOften(counts)]))
}

function toActionKey(action: object): string {
  return canonicalJson(action as Json)
}
