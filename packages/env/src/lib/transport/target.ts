import type { Channel } from '@episodic/protocol'
import { parseMcpConfig, urlEntrySchema } from '@episodic/protocol/extend'
import { EnvError } from '../env-error.ts'
import type { CallOptions } from '../environment/environment.ts'
import type { Authorization } from './authorization.ts'
import type { Elicit } from './elicitation.ts'
import type { Era } from './era.ts'

/**
 * A server at a URL: Streamable HTTP, a WebSocket (`ws:`, `wss:`), or newline-framed JSON-RPC over TCP
 * (`tcp://<host>:<port>`) or a Unix socket (`unix:<path>`). `token` is sent as a bearer token, and over TCP in the first
 * message. Headers go with HTTP and, outside of a page, with a WebSocket.
 */
export interface HttpTarget {
  readonly url: string
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Logs in where a server over HTTP asks for it, in the place of a `token`. */
  readonly authorization?: Authorization | undefined
}

/** A server to start as a child process that speaks over its pipes. It is stopped when the connection closes. */
export interface CommandTarget {
  readonly command: string
  readonly args?: readonly string[] | undefined
  /** Added to the few variables that a child inherits. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
}

/** What can be connected to: a URL, a URL with a token, a command, or a channel such as a host in this process. */
export type Target = string | HttpTarget | CommandTarget | Channel

/** Options of a channel. */
export interface ChannelOptions extends CallOptions {
  /** Hears of every message on the wire, for debugging. Not of those to a host in the same process: there is no wire. */
  readonly onMessage?: (direction: 'sent' | 'received', message: unknown) => void
  /**
   * Which era of MCP each server over HTTP speaks, by its URL. What is found out is written here, and what stands here is
   * not asked again. Left out, every server is asked once for each channel.
   */
  readonly eras?: Map<string, Era>
  /**
   * Answers a server over HTTP or a pipe that asks the person at the client for something in the midst of a call. Left out,
   * servers are told that there is nobody to ask.
   */
  readonly elicit?: Elicit
  /**
   * How often a server may ask before it answers one call. Default 16. Past that the call fails with `connection-failed`,
   * whose `details.questions` is this bound, so that no server keeps a client asking and answering for ever.
   */
  readonly questions?: number
}

/**
 * Reads an `mcpServers` configuration, as desktop clients keep it, from its JSON text: named servers, each a URL or
 * a command. `${NAME}` in any value is replaced from `variables`, so that tokens need not stand in the file.
 *
 * Throws `config-invalid`, naming the server and the field.
 */
export function parseMcpServers(
  text: string,
  variables: Readonly<Record<string, string | undefined>>,
): Map<string, HttpTarget | CommandTarget> {
  const fail = (message: string, cause?: unknown) => new EnvError('config-invalid', message, { cause })
  let config: unknown
  try {
    config = JSON.parse(text)
  } catch (cause) {
    throw fail(`The configuration is not JSON: ${(cause as Error).message}.`, cause)
  }
  return parseMcpConfig(config, { urlSchema: urlEntrySchema, variables, fail })
}
