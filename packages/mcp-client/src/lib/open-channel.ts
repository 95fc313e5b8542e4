import type { Channel } from '@episodic/protocol'
import { McpError } from './mcp-error.ts'
import { openConnection } from './open-connection.ts'
import type { Bounds, ChannelOptions, CommandTarget, HttpTarget } from './target.ts'
import { openMultiplexedChannel } from './websocket/multiplexed-channel.ts'
import { PROTOCOL, webSocketWire } from './websocket/open-web-socket.ts'

/** A target of `connect`: a URL, a URL with a token, a command, or a channel, for example to a host in this process. */
export type Target = string | HttpTarget | CommandTarget | Channel

/** Loading the code of a command may take a minute, and a state with its log many megabytes. */
const BOUNDS: Bounds = { openMilliseconds: 120_000, callMilliseconds: 120_000, answerBytes: 268_435_456 }

/**
 * Opens a channel to any MCP server, for single requests. Code that needs Node is loaded only for targets that need it.
 * Rejects with `target-invalid`, and with the other codes of an `McpError`.
 */
export async function openChannel(target: Exclude<Target, Channel>, options: ChannelOptions = {}): Promise<Channel> {
  const given: HttpTarget | CommandTarget | null = typeof target === 'string' ? { url: target } : target
  if (typeof given === 'object' && given !== null) {
    if ('command' in given || ('url' in given && /^https?:$/.test(protocolOf(given.url))))
      return openConnection(given, options, BOUNDS)
    if ('url' in given) {
      if (given.authorization)
        throw new McpError(
          'target-invalid',
          `Cannot log in at ${given.url}: authorization is for http and https. Give a token instead.`,
        )
      if (/^wss?:$/.test(protocolOf(given.url)))
        return openMultiplexedChannel(await webSocketWire({ ...given, protocol: PROTOCOL }), {
          ...options,
          name: given.url,
        })
    }
  }
  throw new McpError(
    'target-invalid',
    `Cannot connect to ${JSON.stringify(withoutSecrets(target))}. Give a URL (http, https, ws, wss, or ors: and openenv: before one of http), a command, an mcpServers entry, or a channel.`,
  )
}

/**
 * Returns the options of a channel to a server that may keep state by MCP session, such as the world that it plays.
 * Only the versions before 2026-07-28 have sessions, so the channel begins with the handshake of those, and does
 * without only if the server refuses it.
 */
export function disconnectPreservingSessions(target: Target): Pick<ChannelOptions, 'protocols'> {
  const url = typeof target === 'string' ? target : 'url' in target ? target.url : null
  return url === null ? {} : { protocols: new Map([[url, 'legacy']]) }
}

function withoutSecrets(target: unknown): unknown {
  return typeof target === 'object' && target !== null && 'url' in target ? { url: target.url } : target
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : ''
}
