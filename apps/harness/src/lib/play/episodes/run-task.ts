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
import { DEFAULT_SEAT, type SealedRecord, seedFor } from '@episodic/protocol'
import { stopReasonOf } from '@episodic/protocol/internal'
import { mapValues } from '../../base/map-values.ts'
import type { ModelProxy } from '../../models/model-proxy.ts'
import { reportAnswers } from '../../models/report-answers.ts'
import type { PlannedEpisode } from '../../run-folder/plan/planned-episode.ts'
import { createRecording, type Recording } from '../../run-folder/record/recording.ts'
import { type Agent, isAgent } from '../../worlds/agents/agent.ts'
import { type AgentModels, openAgentModels } from '../../worlds/agents/agent-models.ts'
import { attributeAnswers } from '../../worlds/agents/attribute-answers.ts'
import { isLlm } from '../../worlds/policies.ts'
import { policySeedOf } from '../plan/plan.ts'
import { type MatchSealing, type Sealing, sealEpisode } from '../record/seal-episode.ts'
import { runRollout } from './run-rollout.ts'
import { watchAgent } from './watch-agent.ts'
import { type PlayListener, watchPlay } from './watch-play.ts'

/** The run that an episode is a part of. */
export interface RunContext {
  /** The name of the run. */
  readonly run: string
  /** Aborts the episode. */
  readonly signal: AbortSignal
  /** Milliseconds since the run started. */
  now(): number
  /** Receives the name of a policy at each answer of its language model. */
  readonly onAnswer?: ((policy: string) => void) | undefined
  /** Receives what happens in the episode, if it is played in this process by policies. */
  readonly listener?: PlayListener | undefined
}

/**
 * Plays one rollout of a task and resolves with its records, one for each episode of a tree. Resolves with none if it
 * was interrupted, so that a resumed run plays it again. An error that it throws stops the run.
 */
export type RunTask = (planned: PlannedEpisode, context: RunContext) => Promise<readonly SealedRecord[]>

/** How a run plays and records, whatever it plays. */
interface AnyTaskOptions {
  /** The seed of the run. */
  readonly seed: string
  readonly discount: number
  /** What records keep of an action. Default: all of it. */
  readonly accept?: Sealing['accept']
  /** How the answers of language models are kept. Default: all, without secrets. */
  readonly recording?: Recording
  /** Returns an agent as the player of a seat, for one episode. Default: `null`, no agent plays. */
  readonly seatAgent?: ((agent: Agent, models: AgentModels) => OutsidePlayer) | null
  /** Records what agents ask of language models. Default: `null`, only an agent itself can record it. */
  readonly proxy?: ModelProxy | null
}

/** Plays an environment of one seat. */
export interface RunTaskOptions extends AnyTaskOptions {
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

/** Plays an environment of several seats, with a policy or an agent for each seat. */
export interface RunMatchTaskOptions extends AnyTaskOptions {
  readonly createGame: () => Game
  readonly policies: { readonly [seat: string]: Policy | Agent }
  /** The version of the weights of each seat's policy. Default: not known. */
  readonly versions?: { readonly [seat: string]: string | undefined }
  /** The most steps of a seat; `null` for the limits of the task. */
  readonly maxSteps: number | null
  readonly weights: MatchSealing['weights']
}

/** Plays in this process, with policies, and with agents that play from outside. */
export function createRunTask(options: RunTaskOptions | RunMatchTaskOptions): RunTask {
  const { seed, recording = createRecording(), seatAgent = null, proxy = null } = options
  return async (planned, context) => {
    const { run, signal, now, onAnswer, listener } = context
    const started = now()
    const policySeed = policySeedOf(seed, planned)
    using opened = new DisposableStack()
    const models = new Map<string, AgentModels>()
    const outside = (seat: string, agent: Agent): OutsidePlayer => {
      const own = opened.use(openAgentModels(proxy))
      models.set(seat, own)
      return (seatAgent as NonNullable<typeof seatAgent>)(agent, own)
    }
    const inside = (policy: Policy): Policy => {
      const reported = onAnswer && isLlm(policy.name) ? reportAnswers(policy, onAnswer) : policy
      return listener ? watchPlay(reported, listener) : reported
    }
    const seal = (ended: number) => ({
      run,
      discount: options.discount,
      ...(options.accept && { accept: options.accept }),
      recording: {
        ...recording,
        redact: (text: string) => recording.redact([...models.values()].reduce((rest, own) => own.redact(rest), text)),
      },
      time: { started, ended },
    })

    if ('createGame' in options) {
      const { createGame, policies, versions = {}, maxSteps, weights } = options
      const { task } = planned
      const steps = Math.min(task.limits.steps ?? Number.POSITIVE_INFINITY, maxSteps ?? Number.POSITIVE_INFINITY)
      const limits = Number.isFinite(steps) ? { ...task.limits, steps } : task.limits
      const players = mapValues(policies, (player, seat) => (isAgent(player) ? outside(seat, player) : inside(player)))
      const playing = { createGame, policies: players, task: { ...task, limits }, policySeed, signal }
      const match = withAnswers(await runMatch(playing), models)
      if (signal.aborted && match.kind === 'failed') return []
      const named = mapValues(policies, ({ name }, seat) => versioned(name, seedFor(policySeed, seat), versions[seat]))
      const by = [...models].flatMap(([seat, { by }]) => (by ? [[seat, by] as const] : []))
      return [
        sealEpisode(match, planned, { ...seal(now()), policies: named, weights, recordedBy: Object.fromEntries(by) }),
      ]
    }

    const { createEnvironment, policy, version, branch = [], watch } = options
    if (isAgent(policy)) {
      const watched = (watch as NonNullable<typeof watch>)()
      const playing = { watched, createEnvironment, task: planned.task, policySeed, signal }
      const { episode, seen } = await watchAgent(outside(DEFAULT_SEAT, policy), playing)
      if (signal.aborted && episode.kind === 'failed') return []
      const { answers, by } = models.get(DEFAULT_SEAT) as AgentModels
      const attributed = attributeAnswers(answers(), seen)
      const steps = episode.steps.map((step, i) => ({ ...step, completions: attributed.steps[i] ?? [] }))
      const undecided = [...(episode.undecided ?? []), ...attributed.undecided]
      return [
        sealEpisode({ ...episode, steps, undecided }, planned, {
          ...seal(now()),
          policy: versioned(policy.name, policySeed, version),
          recordedBy: by ?? undefined,
          // Steps of an agent are seen after the fact, so their times are unknown.
          timed: false,
        }),
      ]
    }
    const rollout = { createEnvironment, policy: inside(policy), seed, branch, signal, now }
    const played = await runRollout(planned, rollout)
    if (signal.aborted && played.some(({ episode }) => episode.kind === 'failed')) return []
    return played.map(({ attempt, episode, policySeed, branch, ended }) => {
      const sealing = { ...seal(ended), policy: versioned(policy.name, policySeed, version), branch }
      return sealEpisode(episode, { ...planned, attempt }, sealing)
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
  let { steps } = match
  let { undecided = [] } = match
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
