import type { Target } from '@episodic/mcp-client/channel'
import { type EnvironmentInfo, type Guarantees, METHOD_SCHEMAS, METHODS, WireError } from '@episodic/protocol'
import { EnvError } from './env-error.ts'
import { type Connection, createConnection } from './environment/connection.ts'
import { SessionEnvironment } from './environment/session-environment.ts'
import { toSystemTarget } from './external/system-target.ts'
import { SessionGame } from './game/session-game.ts'
import type { CallOptions } from './session/call-options.ts'
import { parseReply } from './session/reply.ts'
import { type OnStepTimed, StepTiming } from './session/step-timing.ts'
import { type RetryOptions, retryOptions } from './session/with-retries.ts'
import { openChannel } from './transport/open-channel.ts'

/** What the servers of this project promise. */
const GUARANTEES: Guarantees = { system: 'episodic', replay: true, delivery: 'exactly-once', seed: 'decides' }

export interface ConnectionOptions extends CallOptions {
  /** How long unanswered calls are retried. The first contact and calls to external servers are not retried. */
  readonly retry?: Partial<RetryOptions> | undefined
  /**
   * Called after the first step in environments of one seat, and each 16th after it, with the milliseconds from sending
   * it to its answer, retries included, and those of them that the server took, from when it had read the call to the
   * commit. Asks the server for its time, which older ones, and those of other systems, do not say.
   */
  readonly onStepTimed?: OnStepTimed | undefined
}

/**
 * Connects to a server of environments: a URL, a command to start, an `mcpServers` entry, a channel to a host in the
 * same process, or the URL of another system's server behind `ors:` (Open Reward Standard) or `openenv:` (OpenEnv).
 *
 * Rejects with `target-invalid` for any other target, with `connection-failed` if the server does not answer, and with
 * `not-an-environment` if it is an MCP server without the environment extension.
 */
export async function connect(
  target: Target,
  { retry, onStepTimed, ...options }: ConnectionOptions = {},
): Promise<Connection> {
  // Other systems are loaded when one is connected to.
  const ors = toSystemTarget('ors', target)
  if (ors) return (await import('./ors/ors-connection.ts')).openOrsConnection(ors, options)
  const openenv = toSystemTarget('openenv', target)
  if (openenv) return (await import('./openenv/openenv-connection.ts')).openOpenEnvConnection(openenv, options)
  const channel = await openChannel(target, options)
  try {
    const reply = await channel.request(METHODS.list, {}, options)
    const { environments } = parseReply(METHOD_SCHEMAS.list.result, reply, METHODS.list)
    const retrying = retryOptions(retry)
    const timing = onStepTimed && new StepTiming(onStepTimed)
    const create = (info: EnvironmentInfo) => new SessionEnvironment(new SessionGame(channel, info, retrying, timing))
    return createConnection({
      environments,
      guarantees: GUARANTEES,
      create,
      createGame: (info) => new SessionGame(channel, info, retrying),
      watch: create,
      close: () => channel.close(),
    })
  } catch (error) {
    await channel.close()
    throw isUnknownMethod(error)
      ? new EnvError(
          'not-an-environment',
          'This MCP server does not serve environments, or this is its agent endpoint. Connect to the trainer endpoint (/env), or make an environment of the server with defineMcpEnvironment of @episodic/mcp-worlds.',
          { cause: error },
        )
      : error
  }
}

/** Whether a server does not know the method. Most answer `method-not-found`; some use a neighbouring code. */
function isUnknownMethod(error: unknown): boolean {
  return (['method-not-found', 'invalid-request', 'invalid-params'] as const).some((code) => WireError.is(error, code))
}
