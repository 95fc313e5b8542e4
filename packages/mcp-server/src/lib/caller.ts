import type { Principal } from './host.ts'

/**
 * Who is calling, as the door made sure of it.
 *
 * The trusted door opens, steps and watches sessions by control handle. The agent's door plays one world: the one
 * of a capability (a session URL), the one that a transport session opens lazily, or whichever a call names in its arguments.
 */
export type Caller =
  | {
      readonly door: 'trusted'
      readonly principal: Principal
      /** Runs the server, and may list everybody's sessions. Play, read and close it may only its own. */
      readonly operator?: boolean
    }
  | { readonly door: 'agent'; readonly principal: Principal; readonly world: AgentWorld }

/**
 * Which world an agent's call goes to. `transportId` is `null` before `initialize` has given one out. By `handle`, each
 * call names its session itself, as clients of the modern era do.
 */
export type AgentWorld =
  | { readonly by: 'capability'; readonly capability: string }
  | { readonly by: 'transport'; readonly transportId: string | null; readonly environment: string }
  | { readonly by: 'handle'; readonly environment: string }

/** The secret by which a caller's world is addressed, whatever is asked there; `null` where there is none. */
export function addressOf(world: AgentWorld): string | null {
  if (world.by === 'handle') return null
  return world.by === 'capability' ? world.capability : world.transportId
}
