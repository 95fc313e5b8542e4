import type { Policy } from '@episodic/env'
import { rehearse } from '@episodic/mcp-server'
import { canonicalJson, type Json, type JsonObject, type Rng, seedFor } from '@episodic/protocol'
import type { CheckedWorld, Setting } from '../check-context.ts'
import { drawDeals, keepsPrivate } from '../deal.ts'
import { noisyPolicy } from '../noisy-policy.ts'
import { playMove, rehearseEpisode, rewardOf, truncationAt } from '../rehearsed-episode.ts'
import type { DiscreteActions } from './discrete-actions.ts'
import type { Experience } from './tabular-learner.ts'

/** Step limit of a learner's episode. */
const LONGEST = 120
/** Starts that a learner is evaluated on. */
const MEASURED = 48
/** Private states of training, if there is only one public state to train on. */
const PRIVATE_STATES = 12

/** The start of one episode. */
export interface TableStart {
  readonly seed: string
  readonly privateState?: JsonObject
}

/** A world as a table: its few actions, and the row of each public state. */
export interface TableWorld {
  readonly world: CheckedWorld
  readonly setting: Setting
  readonly actions: DiscreteActions['actions']
  readonly features: (state: JsonObject) => string
}

export interface Rollout {
  /** The steps. Rewards are shaped if the world has a potential. */
  readonly episode: readonly Experience[]
  /** The row after the last step; `null` if the episode terminated. */
  readonly next: string | null
  /** The unshaped return. */
  readonly total: number
}

/**
 * Starts for training and evaluation. If all seeds have the same initial public state, training draws a new seed each
 * time and evaluation uses unseen ones. Otherwise both use the same few private states with one public state, because a
 * table cannot generalize to public states that it has never seen.
 */
export function tableStarts({ environment }: CheckedWorld, setting: Setting, seed: string) {
  const deals = drawDeals(environment, setting, seedFor(seed, 'learnability'), MEASURED)
  const [first] = deals
  const publicStarts = new Set(deals.map(({ state }) => canonicalJson(state.public)))
  if (publicStarts.size === 1 || !first)
    return {
      unseen: true,
      measured: Array.from({ length: MEASURED }, (_, i): TableStart => ({ seed: seedFor(seed, 'measured', i) })),
      next: (rng: Rng): TableStart => ({ seed: seedFor(seed, 'practice', rng.int(0, 1_000_000_000)) }),
    }
  const swapped = deals
    .filter(({ state }) => keepsPrivate(environment, state.private))
    .map(({ state }): TableStart => ({ seed: first.seed, privateState: state.private }))
  const met = swapped.slice(0, PRIVATE_STATES)
  const measured = Array.from({ length: MEASURED }, (_, i) => met[i % met.length] as TableStart)
  return { unseen: false, measured, next: (rng: Rng): TableStart => rng.pick(met) }
}

/** Plays one episode to its end. `choose` returns the number of an action for a row. */
export async function rollOut(
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
    const { tool, arguments: args } = actions[action] as DiscreteActions['actions'][number]
    // A turn of the event loop for each of a learner's steps would cost more than most rules.
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

/** The public states of a few episodes of random play. */
export async function randomWalks(
  { environment }: CheckedWorld,
  setting: Setting,
  actions: TableWorld['actions'],
  rng: Rng,
): Promise<JsonObject[][]> {
  const walks: JsonObject[][] = []
  const seat = environment.seats[0] as string
  for (let i = 0; i < WALKS; i++) {
    const rehearsal = rehearse(environment, { params: setting.params, seed: `walk ${i}` })
    const walk: JsonObject[] = [rehearsal.state.public]
    while (rehearsal.end === null && walk.length < Math.min(setting.steps, LONGEST)) {
      const step = await playMove(rehearsal, { seat, action: rng.pick(actions) })
      // A refused step changes nothing, so it would hide the clocks.
      if (!step.refused) walk.push(rehearsal.state.public)
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
  { world: { environment }, setting, actions, features }: TableWorld,
  solver: Policy,
  starts: readonly TableStart[],
): Promise<ReadonlyMap<string, number>> {
  // If the solver throws in a swapped private state, it goes on at random.
  const policy = noisyPolicy(solver, { random: 0, invalid: 0 })
  const numbers = new Map(actions.map((action, i) => [toActionKey(action), i]))
  const rows = new Map<string, Map<number, number>>()
  for (const start of starts) {
    const { rehearsal, steps } = await rehearseEpisode({ environment, setting, policy, ...start })
    let open: JsonObject = rehearsal.start.state.public
    for (const { action, change } of steps) {
      const number = numbers.get(toActionKey(action))
      const row = rows.get(features(open)) ?? new Map<number, number>()
      if (number !== undefined) rows.set(features(open), row.set(number, (row.get(number) ?? 0) + 1))
      if (change) open = change.state.public
    }
  }
  return new Map([...rows].map(([row, counts]) => [row, mostOften(counts)]))
}

function mostOften(counts: ReadonlyMap<number, number>): number {
  return [...counts].reduce((most, next) => (next[1] > most[1] ? next : most))[0]
}

function toActionKey(action: object): string {
  return canonicalJson(action as Json)
}
