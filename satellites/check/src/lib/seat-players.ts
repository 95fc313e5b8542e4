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

/** Starts a policy for a seat, as a run does. Its draws depend on the seed, its name and, of several, the seat. */
export async function startPlayer(
  policy: Policy,
  environment: EnvironmentDefinition,
  { params, task, ...setting }: Setting,
  seed: string,
  seat: string,
  start: Observation,
): Promise<Player> {
  const { prompt, hints } = task?.seats?.[seat] ?? setting
  return policy.start({
    task: { prompt, hints, params },
    tools: toolsOfSeat(environment, seat, start),
    seed: seedFor(seed, 'policy', policy.name, ...(environment.multiplayer ? [seat] : [])),
    ...(environment.multiplayer && { seat }),
  })
}
