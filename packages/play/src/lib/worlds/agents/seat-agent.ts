import { setTimeout as pause } from 'node:timers/promises'
import { type OutsidePlayer, PlayerStop } from '@episodic/env'
import type { ToolInfo } from '@episodic/protocol'
import { HarnessError } from '@episodic/run/base/harness-error'
import { policyFault } from '@episodic/run/base/policy-fault'
import type { Agent } from './agent.ts'
import type { AgentModels } from './agent-models.ts'

/** Milliseconds for an agent to return after the end of its seat's episode. */
const RETURN_TIMEOUT = 5_000

/**
 * Returns an agent as the player of a seat, at its session URL.
 *
 * @param addressOf - returns the session URL of a capability.
 * @param seconds - that the agent may take for an episode.
 * @param models - the language models of the agent in that episode.
 */
export function createSeatAgent(
  agent: Agent,
  addressOf: (capability: string) => string,
  seconds: number,
  { modelUrl, modelKey, record, answers }: AgentModels,
): OutsidePlayer {
  return {
    name: agent.name,
    async playSeat({ context: { task, seed, tools }, capability, observation, signal }) {
      const outOfTime = AbortSignal.timeout(seconds * 1_000)
      const limit = AbortSignal.any([signal, outOfTime])
      const gone = new AbortController()
      const url = addressOf(capability)
      const speech = tools.find((tool) => tool.speech !== undefined)
      let hasSpoken = false
      const say = async (words: string) => {
        hasSpoken = true
        const { sayWords } = await import('./say-words.ts')
        return sayWords(url, speech as ToolInfo, words, limit)
      }
      const assignment = { url, task, observation, seed, modelUrl, modelKey, record, say: speech ? say : null }
      const played = agent.play({ ...assignment, signal: limit }).then(async () => {
        // What its model said last, as far as that is known, is the last move of an agent that plays no words itself.
        const { text, calls = [] } = answers().at(-1)?.answer ?? {}
        if (speech && text && calls.length === 0 && !hasSpoken && !limit.aborted) await say(text)
      })
      const late = new Promise<void>((resolve) => {
        const wait = () => void pause(RETURN_TIMEOUT, null, { signal: gone.signal }).then(() => resolve(), resolve)
        limit.addEventListener('abort', wait, { once: true })
      })
      try {
        await Promise.race([played, late])
      } catch (cause) {
        if (!limit.aborted)
          throw HarnessError.is(cause) || PlayerStop.is(cause) ? cause : policyFault(`The agent "${agent.name}"`, cause)
      } finally {
        gone.abort()
      }
      if (outOfTime.aborted && !signal.aborted)
        throw new PlayerStop('out-of-time', `${agent.name} was still playing after ${seconds} s.`)
    },
  }
}
