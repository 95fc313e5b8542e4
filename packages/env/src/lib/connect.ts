import { type EnvironmentInfo, METHOD_SCHEMAS, METHODS, WireError } from '@episodic/protocol'
import { EnvError } from './env-error.ts'
import { type Connection, createConnection } from './environment/connection.ts'
import type { CallOptions } from './environment/environment.ts'
import { parseReply } from './environment/reply.ts'
import { createSessionEnvironment } from './environment/session-environment.ts'
import { type RetryOptions, retryOptions } from './environment/with-retries.ts'
import { openForeignConnection } from './external/external-connection.ts'
import type { ForeignEnvironment } from './external/external-environment.ts'
import { openChannel } from './transport/open-channel.ts'
import type { Target } from './transport/target.ts'

export interface ConnectionOptions extends CallOptions {
  /** How long a call that got no answer is made again. Not for the first contact, nor for a foreign server. */
  readonly retry?: Partial<RetryOptions> | undefined
}

/**
 * Connects to a server of environments: a URL, a command to start, an `mcpServers` entry, a channel to a host in the
 * same process, or a foreign MCP server that `defineForeignEnvironment` has made a world of.
 *
 * Rejects with `target-invalid` for what is none of these, `connection-failed` where nobody answers, and
 * `not-an-environment` where the server is an MCP server that does not speak the environment extension.
 */
export async function connect(
  target: Target | ForeignEnvironment,
  { retry, ...options }: ConnectionOptions = {},
): Promise<Connection> {
  if (isForeign(target)) return openForeignConnection(target, options)
  const channel = await openChannel(target, options)
  try {
    const { environments } = parseReply(
      METHOD_SCHEMAS.list.result,
      await channel.request(METHODS.list, {}, options),
      METHODS.list,
    )
    const create = (info: EnvironmentInfo) => createSessionEnvironment(channel, info, retryOptions(retry))
    return createConnection(environments, create, create, () => channel.close())
  } catch (error) {
    await channel.close()
    throw isUnknownMethod(error)
      ? new EnvError(
          'not-an-environment',
          'This is an MCP server, but not one of environments, or it is the door for agents. Connect to the trainer endpoint (/env), or make a world of it with defineForeignEnvironment.',
          { cause: error },
        )
      : error
  }
}

function isForeign(target: Target | ForeignEnvironment): target is ForeignEnvironment {
  return typeof target === 'object' && target !== null && 'rewards' in target
}

/** How servers say that they do not know a method: most by the number for it, some by one of its neighbours. */
function isUnknownMethod(error: unknown): boolean {
  return (['method-not-found', 'invalid-request', 'invalid-params'] as const).some((code) => WireError.is(error, code))
}
