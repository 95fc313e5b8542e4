import {
  type BranchPoint,
  type Environment,
  type Game,
  type Match,
  type OutsidePlayer,
  type Policy,
  runMatch,
} from '@episodic/env'
import type { WatchedEnvironment } from '@episodic/env/internal'
import { absenceOf } from '@episodic/mcp-server/internal'
import type { ModelProxy } from '@episodic/models/gateway/model-proxy'
import type { ModelJournal } from '@episodic/models/journal/model-journal'
import { type OnAnswer, reportAnswers } from '@episodic/models/journal/report-answers'
import { DEFAULT_SEAT, type SealedRecord, seedFor } from '@episodic/protocol'
import { stopReasonOf } from '@episodic/protocol/internal'
import { mapValues } from '@episodic/runs/base/map-values'
import { isLlm } from '@episodic/runs/base/player-names'
import type { PlannedEpisode } from '@episodic/runs/folder/plan/planned-episode'
import type { PlayListener } from '@episodic/runs/folder/record/live-file'
import { createRecording, type Recording } from '@episodic/runs/folder/record/recording'
import { type Agent, isAgent } from '../../worlds/agents/agent.ts'
import { type AgentModels, openAgentModels } from '../../worlds/agents/agent-models.ts'
import { attributeAnswers } from '../../worlds/agents/attribute-answers.ts'
import { policySeedOf } from '../plan/plan.ts'
import { type MatchSealing, type Sealing, sealEpisode } from '../record/seal-episode.ts'
import { runRollout } from './run-rollout.ts'
import { type Spent, spentOn } from './spending.ts'
import { watchAgent } from './watch-agent.ts'
import { watchPlay } from './watch-play.ts'

/** An answer of the language model of a policy. */
export interface Answered {
  readonly policy: string
  /** Whether it was kept from an earlier start of the run. It was paid then, and says nothing of the model now. */
  readonly isKept: boolean
  readonly spent: Spent
}

/** The run that an episode is a part of. */
export interface RunContext {
  /** The name of the run. */
  readonly run: string
  /** Aborts the episode. */
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

/** How a run plays and records, whatever it plays. */
export interface RunTaskOptions {
  /** The seed of the run. */
  readonly seed: string
  readonly discount: number
  /** Plays the rollouts: {@link playEpisodes} or {@link playMatch}. */
  readonly play: PlayRollout
  /** What records keep of an action. Default: all of it. */
  readonly accept?: Sealing['accept']
  /** How the answers of language models are kept. Default: all, without secrets. */
  readonly recording?: Recording
  /** Returns an agent as the player of a seat, for one episode. Default: `null`, no agent plays. */
  readonly seatAgent?: ((agent: Agent, models: AgentModels) => OutsidePlayer) | null
  /** Records what agents ask of language models. Default: `null`, only an agent itself can record it. */
  readonly proxy?: ModelProxy | null
  /** Keeps the answers that agents get there until their episode is sealed. Default: none is kept. */
  readonly journal?: ModelJournal | null
}

/** Plays one rollout and seals what was played; resolves with nothing if it was interrupted. */
export type PlayRollout = (planned: PlannedEpisode, rollout: Rollout) => Promise<readonly SealedRecord[]>

/** What one rollout is played and sealed with. */
interface Rollout extends Pick<RunContext, 'signal' | 'now'> {
  readonly seed: string
  readonly policySeed: string
  /** Returns who plays a seat: an agent from outside, or a policy whose play is watched. */
  readonly seated: (seat: string, player: Policy | Agent, policySeed: string) => Policy | OutsidePlayer
  /** What agents asked of language models, by their seats. */
  readonly models: ReadonlyMap<string, AgentModels>
  /** Returns what all lines of the rollout have in common. */
  readonly sealing: (ended: number) => Omit<Sealing, 'policy'>
}

/** Plays in this process, with policies, and with agents that play from outside. */
export function createRunTask({
  seed,
  discount,
  play,
  accept,
  recording = createRecording(),
  seatAgent = null,
  proxy = null,
  journal,
}: RunTaskOptions): RunTask {
  return async (planned, { run, signal, now, onAnswer, listener }) => {
    const started = now()
    using opened = new DisposableStack()
    const report: OnAnswer = (policy, answer, isKept) => onAnswer?.({ policy, isKept, spent: spentOn(answer) })
    const models = new Map<string, AgentModels>()
    const redact = (text: string) =>
      recording.redact([...models.values()].reduce((rest, own) => own.redact(rest), text))
    return await play(planned, {
      seed,
      policySeed: policySeedOf(seed, planned),
      signal,
      now,
      models,
      seated(seat, player, policySeed) {
        if (isAgent(player)) {
          const own = opened.use(openAgentModels(proxy, proxy && journal?.open(policySeed)))
          models.set(seat, own)
          return (seatAgent as NonNullable<typeof seatAgent>)(player, own)
        }
        const reported = onAnswer && isLlm(player.name) ? reportAnswers(player, report) : player
        return listener ? watchPlay(reported, listener) : reported
      },
      sealing: (ended) => ({
        run,
        discount,
        ...(accept && { accept }),
        recording: { ...recording, redact },
        time: { started, ended },
      }),
    })
  }
}

export interface MatchPlay {
  readonly createGame: () => Game
  readonly policies: { readonly [seat: string]: Policy | Agent }
  /** The version of the weights of each seat's policy. Default: not known. */
  readonly versions?: { readonly [seat: string]: string | undefined }
  /** The most steps of a seat; `null` for the limits of the task. */
  readonly maxSteps: number | null
  readonly weights: MatchSealing['weights']
}

/** Plays games of several seats, whose lines are of all seats. */
export function playMatch({ createGame, policies, versions = {}, maxSteps, weights }: MatchPlay): PlayRollout {
  return async (planned, { policySeed, signal, now, seated, models, sealing }) => {
    const { task } = planned
    const steps = Math.min(task.limits.steps ?? Number.POSITIVE_INFINITY, maxSteps ?? Number.POSITIVE_INFINITY)
    const limits = Number.isFinite(steps) ? { ...task.limits, steps } : task.limits
    const players = mapValues(policies, (player, seat) => seated(seat, player, seedFor(policySeed, seat)))
    const playing = { createGame, policies: players, task: { ...task, limits }, policySeed, signal }
    const match = withAnswers(await runMatch(playing), models)
    if (signal.aborted && match.kind === 'failed') return []
    const named = mapValues(policies, ({ name }, seat) => versioned(name, seedFor(policySeed, seat), versions[seat]))
    const by = [...models].flatMap(([seat, { by }]) => (by ? [[seat, by] as const] : []))
    const recordedBy = Object.fromEntries(by)
    return [sealEpisode(match, planned, { ...sealing(now()), policies: named, weights, recordedBy })]
  }
}

export interface EpisodePlay {
  /** Applies the run's weights, shaping and limits, to a new environment or to the given one. */
  readonly createEnvironment: (environment?: Environment) => Environment
  readonly policy: Policy | Agent
  /** The version of the policy's weights. Default: not known. */
  readonly version?: string | undefined
  /** Plays a tree of episodes for each rollout, forked at these points; a policy alone can. Default: none. */
  readonly branch?: readonly BranchPoint[]
  /** Returns the environment that an agent plays, to be watched. Needed if one plays. */
  readonly watch?: () => WatchedEnvironment
}

/** Plays environments of one seat, of this system or another, whose lines are of that seat. */
export function playEpisodes({ createEnvironment, policy, version, branch = [], watch }: EpisodePlay): PlayRollout {
  return async (planned, { seed, policySeed, signal, now, seated, models, sealing }) => {
    const player = seated(DEFAULT_SEAT, policy, policySeed)
    if ('playSeat' in player) {
      const watched = (watch as NonNullable<typeof watch>)()
      const playing = { watched, createEnvironment, task: planned.task, policySeed, signal }
      const { episode, seen } = await watchAgent(player, playing)
      if (signal.aborted && episode.kind === 'failed') return []
      const { answers, by } = models.get(DEFAULT_SEAT) as AgentModels
      const attributed = attributeAnswers(answers(), seen)
      const steps = episode.steps.map((step, i) => ({ ...step, completions: attributed.steps[i] ?? [] }))
      const undecided = [...(episode.undecided ?? []), ...attributed.undecided]
      return [
        sealEpisode({ ...episode, steps, undecided }, planned, {
          ...sealing(now()),
          policy: versioned(policy.name, policySeed, version),
          recordedBy: by ?? undefined,
          // Steps of an agent are seen after the fact, so their times are unknown.
          timed: false,
        }),
      ]
    }
    const played = await runRollout(planned, { createEnvironment, policy: player, seed, branch, signal, now })
    if (signal.aborted && played.some(({ episode }) => episode.kind === 'failed')) return []
    return played.map(({ attempt, episode, policySeed, branch, ended }) => {
      const line = { ...sealing(ended), policy: versioned(policy.name, policySeed, version), branch }
      return sealEpisode(episode, { ...planned, attempt }, line)
    })
  }
}

function versioned(name: string, seed: string, version: string | undefined): Sealing['policy'] {
  return { name, seed, ...(version !== undefined && { version }) }
}

/**
 * Returns a match with the answers of the models of its agents. Those after the last step of a seat are kept with that
 * step, unless its failure or its stop ended the match.
 */
function withAnswers(match: Match, models: ReadonlyMap<string, AgentModels>): Match {
  let { steps, undecided = [] } = match
  for (const [seat, own] of models) {
    const isOwn = (step: Match['steps'][number]) => step.seat === seat && !absenceOf(step.action)
    const attributed = attributeAnswers(own.answers(), steps.filter(isOwn))
    const left = [...attributed.steps]
    const last = steps.findLast(isOwn)
    const isLast = seatThatEnded(match) === seat
    if (isLast) undecided = attributed.undecided
    steps = steps.map((step) => {
      if (!isOwn(step)) return step
      const completions = left.shift() ?? []
      return {
        ...step,
        completions: step === last && !isLast ? [...completions, ...attributed.undecided] : completions,
      }
    })
  }
  return { ...match, steps, undecided }
}

/** Returns the seat whose failure or stop ended a match. */
function seatThatEnded(match: Match): string | null {
  if (match.kind === 'failed') return match.seat
  return Object.keys(match.seats).find((seat) => stopReasonOf(match.seats[seat]?.end ?? null)) ?? null
}
