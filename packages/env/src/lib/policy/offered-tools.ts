import type { EnvironmentInfo, Observation, ToolInfo } from '@episodic/protocol'

const lists = new WeakMap<EnvironmentInfo['tools'], Map<string, readonly ToolInfo[]>>()
const MOST_LISTS = 256

/** Returns the tools that a seat has with an observation: the same list for the same names. Default: the only seat. */
export function offeredTools(
  { tools, seats }: Pick<EnvironmentInfo, 'tools' | 'seats'>,
  { tools: offered }: Pick<Observation, 'tools'>,
  seat?: string,
): readonly ToolInfo[] {
  const names = offered ?? seats?.find(({ name }) => name === seat)?.tools
  if (!names) return tools
  const made = lists.get(tools) ?? new Map<string, readonly ToolInfo[]>()
  lists.set(tools, made)
  const key = names.join(' ')
  const known = made.get(key)
  if (known) return known
  const list = tools.filter(({ name }) => names.includes(name))
  if (made.size === MOST_LISTS) made.clear()
  made.set(key, list)
  return list
}
