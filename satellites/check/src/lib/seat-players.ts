import type { Player, Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { type Observation, seedFor, type ToolInfo } from '@episodic/protocol'
import type { Setting } from './check-context.ts'

/** Returns the tools of a seat; with an observation, those that it has then. */
export function toolsOfSeat(
  { tools, toolInfos }: EnvironmentDefinition,
  seat: string,
  { tools: offered }: Partial<Observation> = {},
): readonly ToolInfo[] {
  return toolInfos.filter(({ name }) => offered?.includes(name) ?? tools[name]?.seats?.includes(seat) ?? true)
}

/**
 * Starts a policy, as a run does. Its draws depend on the seed, its name and the seat.
 *
 * @param seat - of several.
 */
export async function startSeat(
  policy: Policy,
  { prompt, hints, params }: Pick<Setting, 'prompt' | 'hints' | 'params'>,
  tools: readonly ToolInfo[],
  seed: string,
  seat?: string,
): Promise<Player> {
  const names = ['policy', policy.name, ...(seat === undefined ? [] : [seat])]
  const own = seedFor(seed, ...names)
  return policy.start({ task: { prompt, hints, params }, tools, seed: own, ...(seat !== undefined && { seat }) })
}
