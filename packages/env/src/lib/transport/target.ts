import type { Channel } from '@episodic/protocol'
import { parseConfigText, parseMcpConfig, urlEntrySchema } from '@episodic/protocol/internal'
import { EnvError } from '../env-error.ts'
import type { CallOptions } from '../session/call-options.ts'
import type { Authorization } from './authorization.ts'
import type { Elicit } from './elicitation.ts'
import type { ProtocolSupport } from './protocol-support.ts'

/**
 * A server at a URL: Streamable HTTP or a WebSocket (`ws:`, `wss:`). `token` is sent as a bearer token. Headers are
 * sent over HTTP and, outside of browsers, over a WebSocket.
 */
export interface HttpTarget {
  readonly url: string
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Logs in when a server over HTTP asks for it, instead of a `token`. */
  readonly authorization?: Authorization | undefined
}

/** A server to start as a child process, with stdio as its transport. It is stopped when the connection closes. */
export interface CommandTarget {
  readonly command: string
  readonly args?: readonly string[] | undefined
  /** Added to the default environment variables of a child process. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
  /** Seconds for it to start and answer for the first time. Default 120. */
  readonly startSeconds?: number | undefined
}

/** A target of `connect`: a URL, a URL with a token, a command, or a channel, for example to a host in this process. */
export type Target = string | HttpTarget | CommandTarget | Channel

/** Options of a channel. */
export interface ChannelOptions extends CallOptions {
  /**
   * Called with every message on the wire, for debugging. Not called for a host in the same process, which has no wire.
   */
  readonly onMessage?: (direction: 'sent' | 'received', message: unknown) => void
  /** Called with what a command prints that is no message, for debugging. */
  readonly onPrinted?: (text: string) => void
  /**
   * The protocol support of servers: over HTTP by URL, and `legacy` of commands by the command. A channel reads it
   * before it asks the server, and adds the answer. Without it, each channel asks its server once.
   */
  readonly protocols?: Map<string, ProtocolSupport>
  /**
   * Answers questions to the user that a server over HTTP or a pipe asks during a call. Without it, the channel
   * declares no support for such questions.
   */
  readonly elicit?: Elicit
  /**
   * The most questions of a server during one call, so that no server can ask without end. Default 16. Past that the
   * call fails with `connection-failed`, whose `details.questions` is this bound.
   */
  readonly questions?: number
}

/**
 * Reads an `mcpServers` configuration, as desktop clients keep it, from its JSON text: named servers, each a URL or a
 * command. `${NAME}`, `${env:NAME}` and `${NAME:-text}` in any value are replaced from `variables`, so that the file
 * needs no tokens. Comments and what other programs write into an entry are ignored.
 *
 * Throws `config-invalid`, naming the server and the field.
 *
 * @param only - the only server that is checked and returned, or what chooses it among the names of those
 * that are enabled. Default: all that are enabled.
 */
export function parseMcpServers(
  text: string,
  variables: Readonly<Record<string, string | undefined>>,
  only?: string | ((enabled: readonly string[]) => string | undefined),
): Map<string, HttpTarget | CommandTarget> {
  const fail = (message: string, cause?: unknown) => new EnvError('config-invalid', message, { cause })
  return parseMcpConfig(readConfig(text), { urlSchema: urlEntrySchema, only, variables, fail })
}

function readConfig(text: string): unknown {
  try {
    return parseConfigText(text)
  } catch (cause) {
    throw new EnvError('config-invalid', `The configuration is not JSON: ${(cause as Error).message}.`, { cause })
  }
}
