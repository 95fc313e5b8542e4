import type { Guarantees, JsonObject, LimitsRequest, Rng } from '@episodic/protocol'
import type { PlayedServer } from '../servers/episode-server.ts'
import type { ListedTool } from '../servers/other-methods.ts'
import type { ToolChoice } from './choose-tools.ts'
import type { McpState, Preparing } from './session-state.ts'

export interface Described {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly limits: LimitsRequest
  readonly tools: ToolChoice
}

/** Where an environment gets the servers of its episodes: it starts one for each, or reads what others answered. */
export interface ServerSource {
  readonly described: Described
  readonly listed: readonly ListedTool[]
  readonly isScored: boolean
  /** What the definition says of calls that are made for the player. */
  readonly preparation: { readonly repeatable?: true; readonly effect?: 'external' }
  readonly parts: {
    readonly forkable?: true
    readonly check?: { readonly waive: Readonly<Record<string, string>> }
    readonly release?: (session: string) => Promise<void>
    readonly guarantees?: Guarantees
  }
  /** How the server says that it is to be used; empty if it says nothing. */
  readonly instructions: string
  /** Returns the text that the player sees first, with these instructions. */
  observe(params: unknown, instructions: string): string
  isSuccess(score: number): boolean
  start(params: unknown, rng: Rng): McpState
  serverOf(context: Preparing): Promise<PlayedServer>
  /**
   * Returns the calls that lead to an end, by the server's names of their tools; those of `done` are missing where any
   * is good. Left out if that is not known.
   */
  legal?(seen: McpState['public'], params: unknown): ReadonlyMap<string, readonly JsonObject[]>
}
