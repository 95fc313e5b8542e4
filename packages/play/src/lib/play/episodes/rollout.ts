import {
  type BranchPoint,
  type Environment,
  type Game,
  type OutsidePlayer,
  type Policy,
  runEpisode,
  runMatch,
  runTree,
} from '@episodic/env'
import type { SessionEnvironment } from '@episodic/env/internal'
import type { ModelProxy } from '@episodic/models/gateway/model-proxy'
import type { ModelJournal } from '@episodic/models/journal/model-journal'
import { reportAnswers } from '@episodic/models/journal/report-answers'
import { DEFAULT_SEAT, type SealedRecord, seedFor, type ToolInfo } from '@episodic/protocol'
import { mapValues } from '@episodic/run/base/map-values'
import { isLlm } from '@episodic/run/base/player-names'
import { countLeaves } from '@episodic/run/folder/plan/configuration'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import type { PlayListener } from '@episodic/run/folder/record/live-file'
import { createRecording, type Recording } from '@episodic/run/folder/record/recording'
import { type Agent, isAgent } from '../../worlds/agents/agent.ts'
import { type AgentModels, openAgentModels } from '../../worlds/agents/agent-models.ts'
import { countLeavesBefore, limitsOf, policySeedOf } from '../plan/plan.ts'
import { type Sealing, sealEpisode } from '../record/seal-episode.ts'
import { withAnswers, withAnswersOfSeats } from './agent-answers.ts'
import { type Spent, spentOn } from './spending.ts'
import type { WatchAgentOptions } from './watch-agent.ts'
import { watchPlay } from './watch-play.ts'

/** An answer of the language model of a policy. */
export interface Answered {
  readonly policy: string
  /** Whether it was kept from an earlier start of the run. It was paid then, and says nothing of the model now. */
  readonly isKept: boolean
  readonly spent: Spent
}

export interface RunContext {
  readonly run: string
  readonly signal: AbortSignal
  /** Milliseconds since the run started. */
  now(): number
  /** Receives each answer of a language model that plays in this process. */
  readonly onAnswer?: ((answered: Answered) => void) | undefined
  /** Receives what happens in the episode, if it is played in this process by policies. */
  readonly listener?: PlayListener | undefined
}

/**
 * Plays one rollout of a task and resolves with its records, one for each episode of a tree. Resolves with none if it
 * was interrupted, so that a resumed run plays it again. An error that it throws stops the run.
 */
export type RunTask = (planned: PlannedEpisode, context: RunContext) => Promise<readonly SealedRecord[]>

/** An environment of one seat, of this system or another, whose lines are of that seat. */
export interface OneSeat {
  /** Applies the run's weights, shaping and limits, to a new environment or to the given one. */
  readonly createEnvironment: (environment?: Environment) => Environment
  /** Plays a tree of episodes for each rollout, forked at these points; a policy alone can. Default: none. */
  readonly branch?: readonly BranchPoint[] | undefined
  /** Returns the environment that an agent plays, to be watched. Needed if one plays. */
  readonly watch?: () => SessionEnvironment
}

/** A game of several seats, whose lines are of all seats. */
export interface SeveralSeats {
  readonly createGame: () => Game
  /** The most steps of a seat; `null` for the limits of the task. */
  readonly maxSteps: number | null
  readonly weights: { readonly [term: string]: number }
}

export interface AgentPlay {
  readonly addressOf: (capability: string) => string
  /** Seconds that an agent may take for an episode. */
  readonly seconds: number
  /** Records what agents ask of language models; `null`: only an agent itself can. */
  readonly proxy: ModelProxy | null
  /** Keeps the answers that agents get there until their episode is sealed. */
  readonly journal: ModelJournal | null
}

/** Returns the step of an earlier episode at which a planned one begins, for one seat or for several. */
export type OriginOf = (planned: PlannedEpisode) => OriginOfOne | OriginOfSeats
type OriginOfOne = Parameters<typeof runEpisode>[0]['origin']
type OriginOfSeats = Parameters<typeof runMatch>[0]['origin']

/** How a run plays and records, whatever it plays. */
export interface RolloutOptions {
  readonly play: OneSeat | SeveralSeats
  /** Who plays each seat. The only seat of an environment is `agent`. */
  readonly players: { readonly [seat: string]: Policy | Agent }
  /** The version of the weights of each seat's policy. Default: not known. */
  readonly versions?: { readonly [seat: string]: string | undefined }
  readonly seed: string
  readonly discount: number
  /** What records keep of an action. Default: all of it. */
  readonly accept?: Sealing['accept']
  /** The tools of the world, one of which may be what words are. Default: none is. */
  readonly tools?: readonly ToolInfo[]
  /** How the answers of language models are kept. Default: all, without secrets. */
  readonly recording?: Recording
  /** Default: `null`, no agent plays. */
  readonly agents?: AgentPlay | null
  /** Returns where an episode goes on from, see `origin` of its plan. Default: all start anew. */
  readonly originOf?: OriginOf | undefined
}

/** Plays and seals rollouts in this process, with policies, and with agents that play from outside. */
export function createRunTask(options: RolloutOptions): RunTask {
  const { play, players, versions = {}, seed, discount, accept, tools, agents = null, originOf } = options
  const { recording = createRecording() } = options
  const policyOf = (seat: string, policySeed: string) => {
    const version = versions[seat]
    return { name: (players[seat] as Policy | Agent).name, seed: policySeed, ...(version !== undefined && { version }) }
  }
  return async (planned, { run, signal, now, onAnswer, listener }) => {
    const started = now()
    using opened = new DisposableStack()
    const policySeed = policySeedOf(seed, planned)
    const models = new Map<string, AgentModels>()
    const createSeatAgent = agents && (await import('../../worlds/agents/seat-agent.ts')).createSeatAgent

    /** Who plays a seat: an agent from outside, or a policy whose play is watched. */
    const seated = (seat: string, own: string): Policy | OutsidePlayer => {
      const player = players[seat] as Policy | Agent
      if (isAgent(player)) {
        const { addressOf, seconds, proxy, journal } = agents as AgentPlay
        const asked = opened.use(openAgentModels(proxy, proxy && journal?.open(own)))
        models.set(seat, asked)
        return (createSeatAgent as NonNullable<typeof createSeatAgent>)(player, addressOf, seconds, asked)
      }
      const reported =
        onAnswer && isLlm(player.name)
          ? reportAnswers(player, (policy, answer, isKept) => onAnswer({ policy, isKept, spent: spentOn(answer) }))
          : player
      return listener ? watchPlay(reported, listener) : reported
    }
    const origin = originOf?.(planned)
    const redact = (text: string) =>
      recording.redact([...models.values()].reduce((rest, own) => own.redact(rest), text))
    const sealing = (ended: number) => ({
      run,
      discount,
      ...(accept && { accept }),
      speech: tools?.find((tool) => tool.speech !== undefined)?.name,
      recording: { ...recording, redact },
      time: { started, ended },
    })

    if ('createGame' in play) {
      const { createGame, maxSteps, weights } = play
      const seeds = mapValues(players, (_, seat) => seedFor(policySeed, seat))
      const task = { ...planned.task, limits: limitsOf(planned.task, maxSteps) }
      const match = await runMatch({
        createGame,
        policies: mapValues(seeds, (own, seat) => seated(seat, own)),
        task,
        policySeed,
        signal,
        origin: origin as OriginOfSeats,
      })
      if (signal.aborted && match.kind === 'failed') return []
      const by = [...models].flatMap(([seat, { by }]) => (by ? [[seat, by] as const] : []))
      const policies = mapValues(seeds, (own, seat) => policyOf(seat, own))
      return [
        sealEpisode(withAnswersOfSeats(match, models), planned, {
          ...sealing(now()),
          ...{ policies, weights, recordedBy: Object.fromEntries(by) },
        }),
      ]
    }
    const { createEnvironment, branch = [], watch } = play
    const player = seated(DEFAULT_SEAT, policySeed)
    const playing = { createEnvironment, task: planned.task, policySeed, signal, origin: origin as OriginOfOne }
    const only = { attempt: planned.attempt, policySeed }
    const played =
      'playSeat' in player
        ? [{ ...only, ...(await playAgent(player, { ...playing, watch }, models)), ended: now() }]
        : branch.length > 0
          ? await playTree(planned, { ...playing, policy: player, points: branch, now, seed })
          : [{ ...only, episode: await runEpisode({ ...playing, policy: player }), branch: null, ended: now() }]
    if (signal.aborted && played.some(({ episode }) => episode.kind === 'failed')) return []
    return played.map(({ attempt, episode, policySeed, ended, ...line }) =>
      sealEpisode(
        episode,
        { ...planned, attempt },
        { ...sealing(ended), policy: policyOf(DEFAULT_SEAT, policySeed), ...line },
      ),
    )
  }
}

async function playAgent(
  player: OutsidePlayer,
  { watch, ...playing }: Pick<OneSeat, 'watch'> & Omit<WatchAgentOptions, 'watched'>,
  models: ReadonlyMap<string, AgentModels>,
) {
  const { watchAgent } = await import('./watch-agent.ts')
  const watched = await watchAgent(player, { ...playing, watched: (watch as NonNullable<typeof watch>)() })
  const own = models.get(DEFAULT_SEAT) as AgentModels
  // Steps of an agent are seen after the fact, so their times are unknown.
  return { episode: withAnswers(watched, own), recordedBy: own.by ?? undefined, timed: false }
}

/**
 * Plays a tree of episodes. A tree of L leaves that is rollout r of its task has the attempts from r·L to (r+1)·L − 1,
 * in the order of their paths. A line that ends before its next branch point counts for all leaves below it.
 * The environment's seed is the task's. The run's seed decides the tasks, the policy's draws and the chance of forks.
 */
async function playTree(
  { task, attempt: rollout }: PlannedEpisode,
  { seed, points, ...options }: Omit<Parameters<typeof runTree>[0], 'branchSeed'> & { readonly seed: string },
) {
  const leaves = countLeaves(points)
  const tree = await runTree({ ...options, points, branchSeed: seedFor(seed, 'branch', task.id, rollout) })
  return tree.flatMap(({ path, at, seeds, policySeed, episode, ended }) => {
    const copies = countLeaves(points.slice(path.length))
    const branch = { rollout, leaves, copies, path, at, seeds }
    const first = rollout * leaves + countLeavesBefore(path, points)
    return Array.from({ length: copies }, (_, i) => ({ attempt: first + i, episode, policySeed, branch, ended }))
  })
}
