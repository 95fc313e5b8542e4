import type { EnvironmentInfo, JsonObject } from '@episodic/protocol'

/** The answer to `/tools` and `/task_tools`. */
export interface ToolList {
  readonly tools: readonly { readonly name: string; readonly description: string; readonly input_schema: JsonObject }[]
  /** A tool that takes the model's last message. No environment here has one. */
  readonly terminal_tool: null
  readonly supports_score_group: false
  readonly message_block_types: readonly ['text']
}

export function toolListOf({ tools }: EnvironmentInfo): ToolList {
  return {
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    terminal_tool: null,
    supports_score_group: false,
    message_block_types: ['text'],
  }
}
