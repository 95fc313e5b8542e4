import type { JsonObject, ToolInfo } from '@episodic/protocol'

/**
 * Some MCP clients show a model the text of an answer alone, and some the structured content alone. What an agent needs
 * to play is therefore in both: the structured content repeats the text, and says whether the episode is over.
 */
export const OBSERVATION = 'observation'
export const EPISODE_OVER = 'episode_over'

export const OBSERVATION_FIELDS: JsonObject = {
  [OBSERVATION]: { type: 'string', description: 'The answer in words, and the state after it.' },
  [EPISODE_OVER]: { type: 'boolean', description: 'Whether the episode is over, so that no further call is played.' },
}

export function agentTool(tool: ToolInfo): ToolInfo {
  if (!tool.outputSchema) return tool
  // The schema of a record may restrict its keys, which would forbid these two.
  const { properties = {}, required = [], propertyNames: _, ...rest } = tool.outputSchema as OutputSchema
  return {
    ...tool,
    outputSchema: {
      ...rest,
      properties: { ...properties, ...OBSERVATION_FIELDS },
      required: [...required, OBSERVATION, EPISODE_OVER],
    },
  }
}

type OutputSchema = JsonObject & { readonly properties?: JsonObject; readonly required?: string[] }
