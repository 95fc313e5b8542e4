import type { Channel } from '@episodic/protocol'
import type { Elicit } from './calls/elicitation.ts'
import type { OAuthProvider } from './login/sdk-provider.ts'

/** A server at a URL: Streamable HTTP or a WebSocket (`ws:`, `wss:`). `token` is a bearer token. */
export interface HttpTarget {
  readonly url: string
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Gets and renews tokens by OAuth when a server over HTTP asks for it, instead of a `token`. */
  readonly authorization?: OAuthProvider | undefined
}

/** A server to start as a child process, with stdio as its transport. It is stopped when the connection closes. */
export interface CommandTarget {
  readonly command: string
  readonly args?: readonly string[] | undefined
  /** Added to the few variables that a child inherits, such as `PATH` and `HOME`. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
  /** Seconds for it to start and answer for the first time. Default 120. */
  readonly startSeconds?: number | undefined
}

/**
 * The protocol versions of MCP that a server supports. Since 2026-07-28 (`modern`), requests are stateless. Before that
 * (`legacy`), a client starts with a handshake, and the server may keep a session for it. A server of environments
 * supports `either`, and needs no handshake.
 */
export type ProtocolSupport = 'modern' | 'legacy' | 'either'

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
}

export interface ChannelOptions extends WaitOptions {
  /** Called with every message on the wire, for debugging. Not for a host in the same process, which has no wire. */
  readonly onMessage?: (direction: 'sent' | 'received', message: unknown) => void
  /**
   * The protocol support of servers: over HTTP by URL, and `legacy` of commands by the command. A channel reads it
   * before it asks the server, and adds the answer. Without it, each channel asks its server once.
   */
  readonly protocols?: Map<string, ProtocolSupport>
  /** Answers what a server over HTTP or a pipe asks the user during a call. Default: no such question is supported. */
  readonly elicit?: Elicit
  /**
   * The most questions of a server during one call, so that no server can ask without end. Default 16. Past that the
   * call fails, with this bound as `questions` of its details.
   */
  readonly questions?: number
}

export interface Bounds {
  /** Milliseconds for a server to answer for the first time, unless its command says it. */
  readonly openMilliseconds: number
  /** Milliseconds until a call without an answer fails. */
  readonly callMilliseconds: number
  /** The most bytes of one answer over HTTP. */
  readonly answerBytes: number
}

/** A server over HTTP or a pipe, to which a connection was made. */
export interface McpConnection extends Channel {
  readonly protocol: ProtocolSupport
  /** What the server says that it can do, unchecked. */
  readonly capabilities: { readonly [name: string]: unknown }
  /** Why the connection ended; `null` while it is open, as far as is known. */
  readonly gone: string | null
}

/** A connection before its answers are mended. */
export type Connected = Omit<McpConnection, 'close' | 'gone'> & {
  readonly ending: () => string | null
  readonly release: () => Promise<void>
}
