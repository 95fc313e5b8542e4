import { type Game, type Match, type OutsidePlayer, type Policy, runMatch } from '@episodic/env'
import { absenceOf } from '@episodic/mcp-server/extend'
import { type Action, seedFor } from '@episodic/protocol'
import { stopReasonOf } from '@episodic/protocol/extend'
import type { ModelProxy } from '../../models/model-proxy.ts'
import { reportAnswers } from '../../models/report-answers.ts'
import { createRecording, type Recording } from '../../run-folder/record/recording.ts'
import { type Agent, isAgent } from '../../worlds/agents/agent.ts'
import { type AgentModels, openAgentModels } from '../../worlds/agents/agent-models.ts'
import { attributeAnswers } from '../../worlds/agents/attribute-answers.ts'
import { isLlm } from '../../worlds/policies.ts'
import { policySeedOf } from '../plan/plan.ts'
import { sealMatch } from '../record/seal-match.ts'
import type { RunTask } from './run-task.ts'
import { watchPlay } from './watch-play.ts'

export interface RunMatchTaskOptions {
  readonly createGame: () => Game
  /** The policy of each seat, or the agent that plays it. */
  readonly policies: { readonly [seat: string]: Policy | Agent }
  /** The version of the weights of each seat's policy. Default: not known. */
  readonly versions?: { readonly [seat: string]: string | undefined }
  /** Returns an agent as the player of a seat, for one match; `null` if no agent plays. */
  readonly seatAgent?: ((agent: Agent, models: AgentModels) => OutsidePlayer) | null
  /** Records what agents ask of language models. Default: `null`, only an agent itself can record it. */
  readonly proxy?: ModelProxy | null
  /** The seed of the run. */
  readonly seed: string
  /** The most steps of a seat; `null` for the limits of the task. */
  readonly maxSteps: number | null
  readonly weights: { readonly [term: string]: number }
  readonly discount: number
  /** Returns what records keep of an action. */
  readonly accept: (action: Action) => Action
  /** How the answers of language models are kept. Default: all, without secrets. */
  readonly recording?: Recording
}

/** Plays an environment of several seats in this process, with a policy for each seat. */
export function createRunMatchTask(options: RunMatchTaskOptions): RunTask {
  const { createGame, policies, seed, maxSteps, weights, discount, accept, seatAgent, proxy = null } = options
  const { recording = createRecording(), versions = {} } = options
  return async (planned, { run, signal, now, onAnswer, listener }) => {
    const started = now()
    const { task } = planned
    const policySeed = policySeedOf(seed, planned)
    const steps = Math.min(task.limits.steps ?? Number.POSITIVE_INFINITY, maxSteps ?? Number.POSITIVE_INFINITY)
    const limits = Number.isFinite(steps) ? { ...task.limits, steps } : task.limits
    using opened = new DisposableStack()
    const models = new Map<string, AgentModels>()
    const players: Record<string, Policy | OutsidePlayer> = {}
    for (const [seat, player] of Object.entries(policies)) {
      if (isAgent(player) && seatAgent) {
        const own = opened.use(openAgentModels(proxy))
        models.set(seat, own)
        players[seat] = seatAgent(player, own)
      } else {
        const policy = player as Policy
        const reported = onAnswer && isLlm(policy.name) ? reportAnswers(policy, onAnswer) : policy
        players[seat] = listener ? watchPlay(reported, listener) : reported
      }
    }
    const playing = { createGame, policies: players, task: { ...task, limits }, policySeed, signal }
    const match = withAnswers(await runMatch(playing), models)
    if (signal.aborted && match.kind === 'failed') return []
    const named = Object.entries(policies).map(([seat, { name }]) => {
      const version = versions[seat]
      return [seat, { name, seed: seedFor(policySeed, seat), ...(version !== undefined && { version }) }]
    })
    const time = { started, ended: now() }
    const recordedBy = Object.fromEntries([...models].flatMap(([seat, { by }]) => (by ? [[seat, by]] : [])))
    const redact = (text: string) =>
      recording.redact([...models.values()].reduce((rest, own) => own.redact(rest), text))
    const sealing = {
      run,
      policies: Object.fromEntries(named),
      weights,
      discount,
      accept,
      time,
      ...(models.size > 0 && { recordedBy }),
    }
    return [sealMatch(match, planned, { ...sealing, recording: { ...recording, redact } })]
  }
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
