import type { CheckedWorld } from '@episodic/check/check-context'
import { comparePairs, type Found } from './endpoint-pairs.ts'
import { sweepEndpoints } from './endpoint-sweep.ts'
import type { AgentEndpoint } from './endpoints/agent-endpoint.ts'
import { httpEndpoint } from './endpoints/http-endpoint.ts'
import { inProcessEndpoint } from './endpoints/in-process-endpoint.ts'
import { stdioEndpoint } from './endpoints/stdio-endpoint.ts'

/** A real socket, a real pipe, and in process. */
export const AGENT_ENDPOINTS = [httpEndpoint, stdioEndpoint, inProcessEndpoint] as const

/**
 * Searches the endpoints of our server for what a player must not get, as a world is played there. What the rules of
 * the world leak is found by `checkWorld`.
 *
 * @param pairs - pairs of sessions, of which each endpoint plays a share.
 */
export async function findEndpointLeaks(
  world: CheckedWorld,
  {
    pairs,
    seed = '0',
    endpoints = AGENT_ENDPOINTS,
  }: { readonly pairs: number; readonly seed?: string; readonly endpoints?: readonly AgentEndpoint[] },
): Promise<Found> {
  const found: Found = { leaks: [], pairs: 0, answers: 0, bytes: 0 }
  await comparePairs({ world, endpoints, pairs, seed }, found)
  await sweepEndpoints({ world, endpoints, pairs, seed }, found)
  return found
}
