import { type Environment, type Episode, type OutsidePlayer, PlayerStop, runEpisode } from '@episodic/env'
import type { SessionEnvironment } from '@episodic/env/internal'
import type { Action, Task } from '@episodic/protocol'
import { monotonic } from '@episodic/protocol/internal'
import type { SeenStep } from '../../worlds/agents/attribute-answers.ts'

/** Seconds that one `watch` request waits for a step. */
const WATCH_SECONDS = 20

/** An episode of an agent, and when its steps were seen. */
export interface Watched {
  readonly episode: Episode
  readonly seen: readonly SeenStep[]
}

export interface WatchAgentOptions {
  readonly watched: SessionEnvironment
  /** Applies the run's weights, shaping and limits. */
  readonly createEnvironment: (environment: Environment) => Environment
  readonly task: Task
  readonly policySeed: string
  readonly signal: AbortSignal
}

/**
 * Plays an environment of one seat with a player from outside: opens the episode, passes the capability of its session
 * to the player, and watches at the trainer endpoint. If the player returns before the end, the episode is `truncated`
 * as `closed`, with the reward so far and the success that the world sees then; as `no-action` if it has played
 * nothing.
 */
export async function watchAgent(
  agent: OutsidePlayer,
  { watched, createEnvironment, task, policySeed, signal }: WatchAgentOptions,
): Promise<Watched> {
  const ended = new AbortController()
  const left = new AbortController()
  let playing: Promise<void> | null = null
  let failure: { readonly cause: unknown } | null = null
  const seen: SeenStep[] = []
  try {
    const episode = await runEpisode({
      createEnvironment: () => createEnvironment(watched),
      task,
      policySeed,
      signal,
      policy: {
        name: agent.name,
        start: (context) => (observation) => {
          const capability = watched.capability as string
          const until = AbortSignal.any([signal, ended.signal])
          playing ??= Promise.resolve()
            .then(() => agent.playSeat({ context, capability, observation, signal: until }))
            .catch((cause: unknown) => {
              failure = { cause }
            })
            .finally(() => left.abort())
          return nextAction()
        },
      },
    })
    return { episode, seen }
  } finally {
    ended.abort()
    await playing
  }

  /** Resolves with the next action. Throws the player's error, or a stop after the last action of one that left. */
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
      if (failure) throw failure.cause
      if (seen.length === 0) throw new PlayerStop('no-action', `${agent.name} has ended without an action.`)
      const { success, verdicts, step } = await watched.finish({ signal })
      // The world has judged what the agent left.
      if (step) return step.action
      throw new PlayerStop('closed', `${agent.name} has left.`, { success, verdicts })
    }
  }
}
