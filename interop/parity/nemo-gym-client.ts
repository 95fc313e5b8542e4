import { fileURLToPath } from 'node:url'
import type { Host } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { serveNemoGym } from '@episodic/trainer-endpoints/nemo-gym'
import { startLineProgram } from '../line-program.ts'
import type { RolloutResult } from '../nemo-gym/check-rollout.ts'
import { openNemoGymEnvironment } from '../nemo-gym/nemo-gym-environment.ts'
import { rowOf } from '../nemo-gym/row-of.ts'
import type { ParityClient } from './parity-client.ts'
import type { SeenEpisode, Shows, WholeStep } from './seen-episode.ts'

/** What a rollout shows. The row of a task has no opening. */
export const NEMO_GYM_SHOWS: Shows = {
  opening: [],
  step: ['ownText', 'structured', 'isRefused'],
  total: ['steps', 'reward', 'terms', 'kind', 'reason', 'success'],
}

/** NeMo Gym's `simple_agent`, with a model that makes the calls of the script. */
export function nemoGymClient(command: string | undefined, onMake: (text: string) => void): ParityClient {
  const { python, versionOf } = openNemoGymEnvironment(command, onMake)
  return {
    name: 'nemo-gym',
    title: `nemo-gym ${versionOf('nemo-gym')}, simple_agent`,
    shows: NEMO_GYM_SHOWS,
    async open(host) {
      await using cleanUp = new AsyncDisposableStack()
      const server = cleanUp.use(await serveNemoGym(host))
      const program = fileURLToPath(new URL('../python/nemo_gym_client.py', import.meta.url))
      const client = cleanUp.use(startLineProgram(python, [program, server.origin]))
      const owned = cleanUp.move()
      return {
        async play({ world, task, actions }) {
          const row = rowOf(world, task)
          const result = (await client.ask({ agent: 'simple', row, calls: actions })) as RolloutResult
          if (result.problem !== undefined) throw new Error(`The agent could not play: ${result.problem}`)
          return seenRollout(host, world.name, result)
        },
        [Symbol.asyncDispose]: () => owned.disposeAsync(),
      }
    },
  }
}

/** Reads an episode from the result of a rollout. */
export function seenRollout(host: Host, world: string, result: RolloutResult): SeenEpisode {
  const { steps, terminated, truncated, reward, reward_components, end_reason, success, failure_reason } =
    result as unknown as Verified
  if (failure_reason !== null) throw new Error(`The episode was not verified: ${failure_reason}`)
  const outputs = result.response.output.filter(({ type }) => type === 'function_call_output')
  // A world that defines no success may have a term of this name.
  const judged = host.environments.find(({ name }) => name === world)?.success === true
  return {
    opening: {},
    steps: outputs.map(({ output }) => seenStep(String(output))),
    total: {
      steps,
      reward,
      terms: reward_components,
      kind: kindOf(terminated, truncated),
      reason: end_reason,
      success: judged ? success === 1 : null,
    },
  }
}

/** The members that the server adds to the result of an agent. */
interface Verified {
  readonly steps: number
  readonly terminated: number
  readonly truncated: number
  readonly reward: number
  readonly reward_components: Readonly<Record<string, number>>
  readonly end_reason: string
  readonly success?: number
  readonly failure_reason: string | null
}

function kindOf(terminated: number, truncated: number) {
  if (terminated + truncated !== 1) throw new Error('The episode was verified without an end.')
  return terminated ? 'terminated' : 'truncated'
}

/** Reads what the model is shown: the data with the text in it, the reason of a refusal, or the text alone. */
function seenStep(output: string): Partial<WholeStep> {
  const shown = objectIn(output)
  if (shown === null) return { ownText: output, structured: null, isRefused: false }
  if (typeof shown.error === 'string') return { ownText: shown.error, structured: null, isRefused: true }
  const { observation, ...structured } = shown
  return { ownText: String(observation), structured, isRefused: false }
}

function objectIn(output: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(output)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
