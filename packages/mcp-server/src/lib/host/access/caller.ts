export type Principal = string | null

/**
 * The token with which a request names a session.
 *
 * - `control`: the handle that opening a session returned to its trainer.
 * - `capability`: the token in a session URL, for one seat of one session.
 * - `transport`: the `Mcp-Session-Id` of an environment without a handle. The MCP session is the episode, and opens at
 *   its first call. `null` before `initialize` has issued one.
 * - `argument`: the token that each call sends in its arguments, for an environment with a handle. In a {@link Caller}
 *   it is the `Mcp-Session-Id` of a client of a version before 2026-07-28, which plays no session itself; `null` for
 *   other clients.
 */
export type SessionAddress = { readonly by: 'control'; readonly token: string } | AgentAddress

export type AgentAddress = (
  | { readonly by: 'capability'; readonly token: string }
  | { readonly by: 'transport' | 'argument'; readonly token: string | null; readonly environment: string }
) & {
  /** Seconds for which a call waits for the turn of its seat. Default: `waitSeconds` of the host's bounds. */
  readonly hold?: number | undefined
}

/** Who is calling, as verified. A trainer names a session in each request; an agent's is that of its address. */
export type Caller =
  | {
      readonly endpoint: 'trainer'
      readonly principal: Principal
      /** Runs the server, and may list everyone's sessions. It may play, read and close only its own. */
      readonly operator?: boolean
    }
  | AgentCaller

export interface AgentCaller {
  readonly endpoint: 'agent'
  readonly principal: Principal
  readonly address: AgentAddress
}

/** A request that was not answered with a result. Holds no secret. */
export interface Rejection {
  /** `null` for a request that reached no endpoint. */
  readonly endpoint: Caller['endpoint'] | null
  /** Who sent it, as far as that was verified. */
  readonly principal: Principal
  /** A code of the wire, or `http-<status>`; `connections` if there were too many connections. */
  readonly code: string
}
