import type { ToolInfo } from '@episodic/protocol'

/** Returns a tool as `tools/list` shows it, in both protocol versions. */
export function toolOnTheWire({ name, description, inputSchema, outputSchema, annotations }: ToolInfo) {
  return {
    name,
    description,
    inputSchema: inputSchema as { type: 'object' },
    ...(outputSchema && { outputSchema: outputSchema as { type: 'object' } }),
    ...(annotations && { annotations }),
  }
}
