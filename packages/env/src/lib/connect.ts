import { type Channel, type EnvironmentInfo, listResultSchema, METHODS, WireError } from '@episodic/protocol'
import { EnvError } from './env-error.ts'
import { delegate, type Environment } from './environment.ts'
import { createSessionEnvironment, parseReply } from './session-environment.ts'
import type { Target } from './target.ts'

/** A connection to a server of environments. Any number of episodes may be played over it at once. */
export interface Connection extends AsyncDisposable {
  readonly environments: readonly EnvironmentInfo[]
  /** An environment of its own over this connection. Throws `option-invalid` for a name that the server does not have. */
  environment(name?: string): Environment
  /** Closes the connection; a server that was started for it is stopped. Safe to call twice. */
  close(): Promise<void>
}

export interface ConnectOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * Connects to a server of environments: a URL, a command to start, an `mcpServers` entry, or a channel to a host in
 * the same process.
 *
 * Rejects with `connection-failed` where nobody answers, and `not-an-environment` where the server is an MCP server
 * that does not speak the environment extension: an adapter plays those.
 */
export async function openConnection(target: Target, options: ConnectOptions = {}): Promise<Connection> {
  const channel = await openChannel(target, options)
  try {
    const { environments } = parseReply(
      listResultSchema,
      await channel.request(METHODS.list, {}, options),
      METHODS.list,
    )
    const close = () => channel.close()
    return {
      environments,
      environment(name = environments[0]?.name) {
        const info = environments.find((environment) => environment.name === name)
        if (info) return createSessionEnvironment(channel, info)
        const names = environments.map((environment) => environment.name).join(', ')
        throw new EnvError('option-invalid', `The server has no environment "${name}". It has: ${names}.`)
      },
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await channel.close()
    if (WireError.is(error, 'method-not-found'))
      throw new EnvError(
        'not-an-environment',
        'This is an MCP server, but not one of environments, or it is the door for agents. Connect to the trusted door (/env), or adapt a foreign server.',
        { cause: error },
      )
    throw error
  }
}

/** Connects to one environment. Closing the environment closes the connection too. */
export async function connect(
  target: Target,
  { environment: name, ...options }: ConnectOptions & { readonly environment?: string } = {},
): Promise<Environment> {
  const connection = await openConnection(target, options)
  try {
    const environment = connection.environment(name)
    const close = async () => {
      try {
        await environment.close()
      } finally {
        await connection.close()
      }
    }
    return delegate(environment, { close })
  } catch (error) {
    await connection.close()
    throw error
  }
}

/** Opens the channel of a target. What needs Node is loaded only where a target asks for it. */
export async function openChannel(target: Target, options: ConnectOptions = {}): Promise<Channel> {
  if (typeof target === 'object' && 'request' in target) return target
  const { openSdkChannel } = await import('./sdk-channel.ts')
  if (typeof target === 'object') {
    if ('url' in target || 'command' in target) return openSdkChannel(target, options)
  } else if (URL.canParse(target) && /^https?:$/.test(new URL(target).protocol))
    return openSdkChannel({ url: target }, options)
  throw new EnvError(
    'target-invalid',
    `Cannot connect to ${JSON.stringify(target)}. Give an http(s) URL, a command, an mcpServers entry, or a channel.`,
  )
}
