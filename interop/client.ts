import type { JsonObject } from '@episodic/protocol'

/** The revisions of MCP that are tried, by the one of each era that clients negotiate. */
export const ERAS = ['2025-11-25', '2026-07-28'] as const
export type Era = (typeof ERAS)[number]

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
  readonly era: Era
  /** What the client is set up to show to the model, where it can show only one of them. */
  readonly view: View
}

/** A tool's result, or an error of the protocol, as far as the client passes it on to the model. */
export interface Shown {
  readonly text: string | null
  readonly structured: JsonObject | null
}

/** One connection of a client to one world. */
export interface Connection extends AsyncDisposable {
  /** The revision that was negotiated; `null` where the client does not say. */
  readonly era: string | null
  /** The names of the tools that it lists. */
  readonly tools: readonly string[]
  call(tool: string, args: JsonObject): Promise<Shown>
}

/** A client of the matrix. */
export interface Client extends AsyncDisposable {
  readonly name: string
  readonly version: string
  readonly eras: readonly Era[]
  /** The two episodes of a connection, by the view that each is played in; one connection for each entry. */
  readonly plays: readonly (readonly [View, View])[]
  /** The mistakes that it sends to the server. Others it answers itself, or ends with an error. */
  readonly sends: readonly Mistake[]
  connect(opening: Opening): Promise<Connection>
}
