import type { JsonObject } from '@episodic/protocol'

/** The MCP protocol versions that are tried: the session-based one and the stateless one. */
export const PROTOCOL_VERSIONS = ['2025-11-25', '2026-07-28'] as const
export type ProtocolVersion = (typeof PROTOCOL_VERSIONS)[number]

export const TRANSPORTS = ['http', 'stdio'] as const
export type Transport = (typeof TRANSPORTS)[number]

/** The part of a tool's result that a player reads: clients differ in which of them they show to the model. */
export type View = 'text' | 'structured'

/** What a model may get wrong in a call. */
export type Mistake = 'missing argument' | 'unknown tool'

/** Where a world is served: a URL, or a command to start. */
export type Place = { readonly url: string } | { readonly command: string; readonly args: readonly string[] }

export interface Opening {
  readonly place: Place
  readonly protocol: ProtocolVersion
  /** The part that the client is set up to show to the model, if it can show only one. */
  readonly view: View
}

/** A tool's result, or an error of the protocol, as far as the client passes it on to the model. */
export interface Shown {
  readonly text: string | null
  readonly structured: JsonObject | null
}

/** One connection of a client to one world. */
export interface Connection extends AsyncDisposable {
  /** The negotiated protocol version; `null` if the client does not report it. */
  readonly protocol: string | null
  /** The names of the tools that it lists. */
  readonly tools: readonly string[]
  call(tool: string, args: JsonObject): Promise<Shown>
}

/** A client of the matrix. */
export interface Client extends AsyncDisposable {
  readonly name: string
  readonly version: string
  readonly protocols: readonly ProtocolVersion[]
  /** The two episodes of a connection, by the view that each is played in; one connection for each entry. */
  readonly plays: readonly (readonly [View, View])[]
  /** The mistakes that it sends to the server. Others it answers itself, or ends with an error. */
  readonly sends: readonly Mistake[]
  connect(opening: Opening): Promise<Connection>
}
