import type { EnvironmentDefinition, Tool } from '@episodic/mcp-server'
import { mapValues } from '@episodic/run/base/map-values'

export type Preparation = NonNullable<Tool['preparation']>

/** Returns an environment whose tools prepare their steps otherwise. */
export function withPreparations(
  environment: EnvironmentDefinition,
  toOther: (preparation: Preparation, tool: string) => Preparation,
): EnvironmentDefinition {
  const tools = mapValues(environment.tools, (tool, name) =>
    tool.preparation ? { ...tool, preparation: toOther(tool.preparation, name) } : tool,
  )
  return { ...environment, tools }
}
