import type { Principal } from './host.ts'

/**
 * Who is calling, as the door made sure of it.
 *
 * The trusted door opens, steps and watches sessions by control handle. The agent's door plays one world: the one
 * of a capability (a session URL), or the one that a transport session opens lazily.
 */
export type Caller =
  | {
      readonly door: 'trusted'
      readonly principal: Principal
      /** Runs the server, and may list everybody's sessions. Play, read and close it may only its own. */
      readonly operator?: boolean
    }
  | { readonly door: 'agent'; readonly principal: Principal; readonly world: AgentWorld }

/** Which world an agent's call goes to. `transportId` is `null` before `initialize` has given one out. */
export type AgentWorld =
  | { readonly by: 'capability'; readonly capability: string }
  | { readonly by: 'transport'; readonly transportId: string | null; readonly environment: string }
