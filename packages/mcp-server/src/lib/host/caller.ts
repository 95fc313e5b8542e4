import type { Principal } from './host.ts'

/**
 * Who is calling, as the endpoint made sure of it.
 *
 * The trainer endpoint opens, steps and watches sessions by control handle. The agent endpoint plays one world: the one
 * of a capability (a session URL), the one that a transport session opens lazily, or whichever a call names in its arguments.
 */
export type Caller =
  | {
      readonly endpoint: 'trainer'
      readonly principal: Principal
      /** Runs the server, and may list everybody's sessions. Play, read and close it may only its own. */
      readonly operator?: boolean
    }
  | { readonly endpoint: 'agent'; readonly principal: Principal; readonly world: AgentWorld }

/**
 * Which world an agent's call goes to.
 *
 * - `capability`: the session of a session URL.
 * - `handle`: each call names its session in its arguments. `transportId` names the MCP session of a client of a version
 *   before 2026-07-28; it is `null` for clients since then, and before `initialize` has answered.
 * - `transport`: an environment without a handle. The MCP session is the episode. `transportId` is `null` before
 *   `initialize` has given one out.
 */
export type AgentWorld =
  | { readonly by: 'capability'; readonly capability: string }
  | { readonly by: 'transport'; readonly transportId: string | null; readonly environment: string }
  | { readonly by: 'handle'; readonly transportId: string | null; readonly environment: string }

/** The secret that every request of a caller carries: a capability or a transport id. `null` where there is none. */
export function addressOf(world: AgentWorld): string | null {
  return world.by === 'capability' ? world.capability : world.transportId
}
