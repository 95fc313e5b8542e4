import { setTimeout as pause } from 'node:timers/promises'
import { type Environment, type Episode, PlayerStop, runEpisode } from '@episodic/env'
import type { WatchedEnvironment } from '@episodic/env/extend'
import type { Action } from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/extend'
import { HarnessError } from '../base/harness-error.ts'
import type { ModelProxy } from '../models/model-proxy.ts'
import { createRecording, type Recording } from '../run-folder/record/recording.ts'
import type { Agent, Assignment } from '../worlds/agents/agent.ts'
import { type AgentModels, openAgentModels } from '../worlds/agents/agent-models.ts'
import { attributeAnswers, type SeenStep } from '../worlds/agents/attribute-answers.ts'
import { policyFault } from '../worlds/policy-fault.ts'
import type { RunTask } from './episodes/run-task.ts'
import { policySeedOf } from './plan/plan.ts'
import { type Sealing, sealEpisode } from './record/seal-episode.ts'

export interface RunAgentTaskOptions {
  readonly agent: Agent
  /** The version of the agent's weights. Default: not known. */
  readonly version?: string | undefined
  readonly watch: () => WatchedEnvironment
  /** Applies the run's weights, shaping and limits to the watched environment. */
  readonly score: (environment: Environment) => Environment
  /** Returns the session URL of a capability. */
  readonly addressOf: (capability: string) => string
  /** The seed of the run. */
  readonly seed: string
  readonly discount: number
  /** What records keep of an action. Default: all of it. */
  readonly accept?: Sealing['accept']
  /** Seconds that an agent may take for an episode. */
  readonly seconds: number
  /** Records what the agent asks of language models. Default: `null`, only the agent itself can record it. */
  readonly proxy?: ModelProxy | null
  /** How that is kept. Default: all, without secrets. */
  readonly recording?: Recording
}

/** Seconds that one `watch` request waits for a step. */
const WATCH_SECONDS = 20
/** Milliseconds for an agent to return after the end of the episode. */
const RETURN_TIMEOUT = 5_000

/**
 * Plays with an agent: opens the episode, passes the session URL to the agent, and watches at the trainer endpoint. If
 * the agent returns before the end, the episode is `truncated` as `closed`, with the reward so far and the success that
 * the world sees then. It is `no-action` if the agent has played nothing, and `out-of-time` if it took too long.
 */
export function createRunAgentTask(options: RunAgentTaskOptions): RunTask {
  const { agent, version, seed, discount, accept, proxy = null, recording = createRecording() } = options
  return async (planned, { run, signal, now }) => {
    const started = now()
    const policySeed = policySeedOf(seed, planned)
    using models = openAgentModels(proxy)
    const { episode, seen } = await watchEpisode(planned.task, policySeed, signal, models, options)
    if (signal.aborted && episode.kind === 'failed') return []
    const time = { started, ended: now() }
    const policy = { name: agent.name, seed: policySeed, ...(version !== undefined && { version }) }
    // Steps of an agent are seen after the fact, so their times are unknown.
    const sealing = { run, policy, discount, time, timed: false, ...(accept && { accept }) }
    const answers = attributeAnswers(models.answers(), seen)
    const steps = episode.steps.map((step, i) => ({ ...step, completions: answers.steps[i] ?? [] }))
    const { undecided } = answers
    const recorded = {
      undecided,
      recordedBy: models.by ?? undefined,
      recording: { ...recording, redact: (text: string) => recording.redact(models.redact(text)) },
    }
    return [sealEpisode({ ...episode, steps }, planned, { ...sealing, ...recorded })]
  }
}

/** An episode of an agent, and when its steps were seen. */
interface Watched {
  readonly episode: Episode
  readonly seen: SeenStep[]
}

async function watchEpisode(
  task: Parameters<typeof runEpisode>[0]['task'] & object,
  policySeed: string,
  signal: AbortSignal,
  { modelUrl, record }: AgentModels,
  { agent, watch, score, addressOf, seconds }: RunAgentTaskOptions,
): Promise<Watched> {
  const watched = watch()
  const ended = new AbortController()
  const left = new AbortController()
  let playing: Promise<void> | null = null
  let isLate = false
  let failure: { readonly cause: unknown } | null = null
  const seen: SeenStep[] = []
  try {
    const episode = await runEpisode({
      createEnvironment: () => score(watched),
      task,
      policySeed,
      signal,
      policy: {
        name: agent.name,
        start({ task, seed }) {
          return (observation) => {
            playing ??= play({
              url: addressOf(watched.capability as string),
              task,
              observation,
              seed,
              modelUrl,
              record,
            })
            return nextAction()
          }
        },
      },
    })
    return { episode, seen }
  } finally {
    ended.abort()
    const gone = new AbortController()
    const late = pause(RETURN_TIMEOUT, null, { signal: gone.signal }).catch(() => {})
    await Promise.race([playing, late])
    gone.abort()
  }

  async function play(assignment: Omit<Assignment, 'signal'>): Promise<void> {
    const outOfTime = AbortSignal.timeout(seconds * 1_000)
    const limit = AbortSignal.any([ended.signal, signal, outOfTime])
    const stop = () => {
      isLate = outOfTime.aborted && !left.signal.aborted
      left.abort()
    }
    limit.addEventListener('abort', stop, { once: true })
    try {
      await agent.play({ ...assignment, signal: limit })
    } catch (cause) {
      if (!limit.aborted) failure = { cause }
    } finally {
      left.abort()
    }
  }

  /** Resolves with the next action. Throws the agent's error, or a stop after the last action of an agent that left. */
  async function nextAction(): Promise<Action> {
    for (;;) {
      const gone = left.signal.aborted
      const action = await watched
        .next({ wait: gone ? 0 : WATCH_SECONDS, signal: gone ? signal : AbortSignal.any([signal, left.signal]) })
        .catch((cause: unknown) => {
          // The agent stopped during the request: there may be a last action.
          if (!gone && left.signal.aborted && !signal.aborted) return null
          throw cause
        })
      if (action) {
        seen.push({ action, seen: monotonic() })
        return action
      }
      if (!gone) continue
      if (failure) throw failureOf(failure.cause)
      throw await stopOf()
    }
  }

  async function stopOf(): Promise<PlayerStop> {
    if (isLate) return new PlayerStop('out-of-time', `${agent.name} was still playing after ${seconds} s.`)
    if (seen.length === 0) return new PlayerStop('no-action', `${agent.name} has ended without an action.`)
    const { success } = await watched.finish({ signal })
    return new PlayerStop('closed', `${agent.name} has left.`, { success })
  }

  function failureOf(cause: unknown): Error {
    if (HarnessError.is(cause) || PlayerStop.is(cause)) return cause
    return policyFault(`The agent "${agent.name}"`, cause)
  }
}
