import { type EpisodeEnd, seedFor } from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/internal'
import { optionInvalid } from '../env-error.ts'
import type { ModelAnswer, Player } from '../policy/policy.ts'
import { closedEpisode } from '../session/closed-episode.ts'
import { finishedEpisode, interruptedEpisode } from './conclude.ts'
import type { Environment, ResetResult } from './environment.ts'
import type { Episode, EpisodeOptions } from './episode.ts'
import { contextOf, type Playing, playOn, resumePlayer } from './play-on.ts'

/** A step at which every line of a tree is forked. */
export interface BranchPoint {
  /** The number of lines that continue, from 2: the forked line and its forks. */
  readonly lines: number
  /** The number of answered steps at this point. */
  readonly at: number
}

export interface TreeOptions extends EpisodeOptions {
  /** In ascending order of `at`. */
  readonly points: readonly BranchPoint[]
  readonly branchSeed: string
}

/** The position of a line in the tree. Each list has one entry for each branch point that the line reached. */
export interface LeafPlace {
  /** 0 for the forked line itself; otherwise the number of the fork, from 1. */
  readonly path: readonly number[]
  readonly at: readonly number[]
  /** The seed of the environment from that point on; `null` if it was not reseeded. */
  readonly seeds: readonly (string | null)[]
  readonly policySeed: string
}

export interface Leaf extends LeafPlace {
  readonly episode: Episode
  readonly ended: number
}

/**
 * Plays a tree of episodes with shared first steps: every line is forked at each branch point. Resolves with the leaves
 * in the order of their paths. All lines run concurrently.
 *
 * The trunk, line 0 at every point, is the episode that `runEpisode` plays with the same options. A fork has its own
 * player, with the policy seed `seedFor(policySeed, 'line', ...path)`, and a reseeded environment: fork i of a line,
 * from 1, has the seed `seedFor(seedFor(branchSeed, 'point', ...path of the line), 'fork', i - 1)`.
 *
 * A line that ends before a branch point is one leaf with a shorter path. Never rejects, like `runEpisode`: a line that
 * fails, or cannot be forked, is a failed leaf.
 */
export async function runTree(options: TreeOptions): Promise<Leaf[]> {
  const { policy, policySeed = policy.name, points, now = monotonic } = options
  const place: LeafPlace = { path: [], at: [], seeds: [], policySeed }
  let environment: Environment | null = null
  let start: ResetResult
  try {
    assertAscending(points)
    const { createEnvironment, task, seed, signal } = options
    environment = createEnvironment()
    start = await environment.reset(task, { seed, signal })
  } catch (cause) {
    await environment?.close().catch(() => {})
    return [{ ...place, episode: { kind: 'failed', start: null, steps: [], cause, undecided: [] }, ended: now() }]
  }
  const trunk = { environment, start, steps: [], place }
  return playLine(trunk, () => policy.start(contextOf(trunk.environment, start, options)), points, options)
}

/** A branch that is being played. The start is that of the tree, and the steps of a fork start with its parent's. */
interface TreeBranch extends Omit<Playing, 'player' | 'undecided'> {
  readonly place: LeafPlace
}

async function playLine(
  { environment, start, steps, place }: TreeBranch,
  createPlayer: () => Player | Promise<Player>,
  points: readonly BranchPoint[],
  options: TreeOptions,
): Promise<Leaf[]> {
  const { now = monotonic } = options
  const below: Promise<Leaf[]>[] = []
  let { path, at, seeds } = place
  let episode: Episode
  const undecided: ModelAnswer[] = []
  try {
    const playing = { environment, start, steps, undecided, player: await createPlayer() }
    let end: EpisodeEnd | null = null
    for (const [i, point] of points.entries()) {
      end = await playOn(playing, point.at, options)
      if (end) break
      const line = { environment, start, steps, place: { ...place, path, at, seeds } }
      const forks = await forkLine(line, point, options)
      const later = points.slice(i + 1)
      const takeOver = ({ environment, steps, place: { policySeed } }: TreeBranch) =>
        resumePlayer(environment, start, steps, { ...options, policySeed })
      below.unshift(...forks.map((fork) => playLine(fork, () => takeOver(fork), later, options)))
      path = [...path, 0]
      at = [...at, point.at]
      seeds = [...seeds, null]
    }
    end ??= await playOn(playing, Number.POSITIVE_INFINITY, options)
    episode = finishedEpisode(start, steps, end as EpisodeEnd)
  } catch (cause) {
    episode = await interruptedEpisode({ environment, start, steps, undecided }, cause)
  }
  const ended = now()
  // Forks may use the connection of their parent, so they end first.
  const leaves = (await Promise.all(below)).flat()
  episode = await closedEpisode(environment, episode)
  return [{ path, at, seeds, policySeed: place.policySeed, episode, ended }, ...leaves]
}

async function forkLine(
  { environment, start, steps, place }: TreeBranch,
  point: BranchPoint,
  { policy, policySeed = policy.name, branchSeed, signal }: TreeOptions,
): Promise<TreeBranch[]> {
  const seed = seedFor(branchSeed, 'point', ...place.path)
  const forks = await environment.fork({ count: point.lines - 1, seed, signal })
  return forks.map((fork, i): TreeBranch => {
    const path = [...place.path, i + 1]
    const at = [...place.at, point.at]
    const seeds = [...place.seeds, fork.start.info.seed]
    const own = { path, at, seeds, policySeed: seedFor(policySeed, 'line', ...path) }
    return { environment: fork, start, steps: [...steps], place: own }
  })
}

function assertAscending(points: readonly BranchPoint[]): void {
  for (const [i, { lines, at }] of points.entries())
    if (!(lines >= 2 && at > (points[i - 1]?.at ?? -1)))
      throw optionInvalid('Branch points have at least 2 lines each, and come in ascending order of their steps.')
}
