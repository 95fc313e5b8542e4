import { checkWorld } from '@episodic/harness'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { findEndpointLeaks } from './endpoint-leaks.ts'
import type { AgentEndpoint } from './endpoints/agent-endpoint.ts'

/** Pairs of episodes with which a planted leak is searched for. Most show in few, some in one of hundreds. */
const PAIRS = [30, 400]

interface Planted {
  readonly environment: EnvironmentDefinition
  readonly endpoints?: readonly AgentEndpoint[]
}

/**
 * Returns what is found in a planted leak: by the check of a world, or at its endpoints. Many pairs are played only if
 * few are not enough.
 *
 * @param finding - the name of the finding that counts. Default: any.
 */
export async function catchLeak({ environment, endpoints }: Planted, finding?: string) {
  for (const pairs of PAIRS) {
    const found = endpoints
      ? (await findEndpointLeaks({ environment }, { pairs, endpoints })).leaks
      : (await checkWorld({ environment }, { pairs, only: ['non-interference'] })).checks.flatMap((one) => one.findings)
    if (found.some(({ name }) => name === (finding ?? name))) return found
  }
  return []
}
