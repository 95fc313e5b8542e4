import type { Player, Policy } from '@episodic/env'
import type { EnvironmentDefinition } from '@episodic/mcp-server'
import { seedFor, type ToolInfo } from '@episodic/protocol'
import type { Setting } from './check-context.ts'

export function toolsOfSeat({ tools, toolInfos }: EnvironmentDefinition, seat: string): readonly ToolInfo[] {
  return toolInfos.filter(({ name }) => tools[name]?.seats?.includes(seat) ?? true)
}

/**
 * Starts a policy for a seat, as a run does. Its draws depend on the seed, its name and, of several, the seat.
 */
export async function startPlayer(
  policy: Policy,
  environment: EnvironmentDefinition,
  { params, task, ...setting }: Setting,
  seed: string,
  seat: string,
): Promise<Player> {
  const { prompt, hints } = task?.seats?.[seat] ?? setting
  return policy.start({
    task: { prompt, hints, params },
    tools: toolsOfSeat(environment, seat),
    seed: seedFor(seed, 'policy', policy.name, ...(environment.multiplayer ? [seat] : [])),
    ...(environment.multiplayer && { seat }),
  })
}
