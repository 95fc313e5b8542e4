import type { Host } from '@episodic/mcp-server'
import type { JsonObject } from '@episodic/protocol'
import { isObject } from '@episodic/protocol/internal'
import { serveNemoGym } from '@episodic/trainer-endpoints/nemo-gym'
import { driverOf } from '../../testing/players/drivers.ts'
import { NemoGymClient, runSimpleAgent } from '../../testing/players/nemo-gym-player.ts'
import { type Fate, type FateOf, startFateProxy } from '../fate-proxy.ts'
import { startLineProgram } from '../line-program.ts'
import { openNemoGymEnvironment } from '../nemo-gym/nemo-gym-environment.ts'
import { isShort, type ParityClient, type ParityPlayer } from './parity-client.ts'
import type { Reference } from './reference.ts'
import { rowOf } from './row-of.ts'
import type { SeenEpisode, Shows, WholeStep } from './seen-episode.ts'

/** What a rollout of `simple_agent` shows. The row of a task has no opening. */
export const NEMO_GYM_SHOWS: Shows = {
  opening: [],
  step: ['ownText', 'structured', 'isRefused'],
  total: ['steps', 'reward', 'terms', 'kind', 'reason', 'success'],
}

/** `gymnasium_agent` does not keep the outputs of its last turn. */
const TURNS_SHOW: Shows = { ...NEMO_GYM_SHOWS, total: ['reward', 'kind'], hidesLast: true }

/** The result of an agent, as far as it is read. */
export interface RolloutResult {
  readonly reward: number
  readonly response: { readonly output: readonly JsonObject[] }
  readonly problem?: string
}

/** The requests of NeMo Gym's `simple_agent`, for tests on machines without its Python. */
export const NEMO_GYM_REQUESTS: ParityClient = {
  name: 'nemo-gym-requests',
  title: 'NeMo Gym, the requests of simple_agent',
  shows: NEMO_GYM_SHOWS,
  async open(host): Promise<ParityPlayer> {
    const server = await serveNemoGym(host)
    return {
      play: async ({ world, task, actions }) =>
        seenRollout(
          host,
          world.name,
          await runSimpleAgent(new NemoGymClient(server.origin, true), rowOf(world, task), actions),
        ),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  },
}

/** NeMo Gym's agents, with a model that makes the calls of the script: also over connections that are cut. */
export function nemoGymClients(command: string | undefined, onMake: (text: string) => void): readonly ParityClient[] {
  const { python, versionOf } = openNemoGymEnvironment(command, onMake)
  const client = (agent: 'simple' | 'gymnasium', fateOf: (() => FateOf) | null): ParityClient => ({
    name: 'nemo-gym',
    title: `nemo-gym ${versionOf('nemo-gym')}, ${agent}_agent${fateOf ? ', cut' : ''}`,
    shows: agent === 'simple' ? NEMO_GYM_SHOWS : TURNS_SHOW,
    // An episode that is left has no last turn.
    plays: (reference) => (fateOf === null || isShort(reference)) && (agent === 'simple' || hasEnded(reference)),
    async open(host) {
      await using cleanUp = new AsyncDisposableStack()
      const served = cleanUp.use(await serveNemoGym(host))
      const { origin } = fateOf ? cleanUp.use(await startFateProxy(served.origin, fateOf())) : served
      const program = cleanUp.use(startLineProgram(python, [driverOf('nemo_gym'), origin]))
      const owned = cleanUp.move()
      return {
        async play({ world, task, actions }) {
          const row = rowOf(world, task)
          const result = (await program.ask({ agent, row, calls: actions })) as RolloutResult
          if (result.problem !== undefined) throw new Error(`The agent could not play: ${result.problem}`)
          return agent === 'simple' ? seenRollout(host, world.name, result) : seenTurns(result)
        },
        [Symbol.asyncDispose]: () => owned.disposeAsync(),
      }
    },
  })
  return [
    client('simple', null),
    client('gymnasium', null),
    client('simple', cutByTurns),
    client('gymnasium', cutByTurns),
  ]
}

function hasEnded({ steps }: Reference): boolean {
  return steps.at(-1)?.end != null
}

/** By turns, loses a request before it reaches the server, cuts its connection before the answer, and lets it pass. */
function cutByTurns(): FateOf {
  const fates: readonly Fate[] = ['lose', 'drop', 'pass']
  let requests = 0
  return ({ path }) => (['/seed_session', '/reset'].includes(path) ? 'pass' : (fates[requests++ % 3] as Fate))
}

/** Reads an episode from the result of `gymnasium_agent`. */
function seenTurns(result: RolloutResult): SeenEpisode {
  const { terminated, truncated } = result as unknown as Record<'terminated' | 'truncated', number | boolean>
  return {
    opening: {},
    steps: stepsIn(result),
    total: { reward: result.reward, kind: kindOf(Number(terminated), Number(truncated)) },
  }
}

function stepsIn({ response: { output } }: RolloutResult): Partial<WholeStep>[] {
  return output.filter(({ type }) => type === 'function_call_output').map((item) => seenStep(String(item.output)))
}

/** Reads an episode from the result of a rollout. */
export function seenRollout(host: Host, world: string, result: RolloutResult): SeenEpisode {
  const { steps, terminated, truncated, reward, reward_components, end_reason, success, failure_reason } =
    result as unknown as Verified
  if (failure_reason !== null) throw new Error(`The episode was not verified: ${failure_reason}`)
  // A world that defines no success may have a term of this name.
  const judged = host.environments.find(({ name }) => name === world)?.success === true
  return {
    opening: {},
    steps: stepsIn(result),
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
