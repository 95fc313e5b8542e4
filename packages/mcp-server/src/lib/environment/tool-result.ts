import type { JsonObject, LoggedStep } from '@episodic/protocol'

/** The result of an MCP `tools/call`. */
export type ToolResult = {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }]
  readonly structuredContent?: JsonObject
  readonly isError?: true
  readonly _meta?: JsonObject
}

/** Returns the part of an answered step that a player may see: nothing of reward, end or control. */
export function toolResult({ observation, report }: LoggedStep): ToolResult {
  const { text, structured } = observation
  const content = [{ type: 'text', text }] as const
  if (report.refused) return { content, isError: true }
  return structured ? { content, structuredContent: structured } : { content }
}

/** Returns a refusal as a tool error, which a model can read and correct. */
export function toolError(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** Returns the text and the data of a tool's answer as one text. */
export function renderText({ content: [{ text }], structuredContent }: ToolResult): string {
  return structuredContent ? `${text}\n${JSON.stringify(structuredContent)}` : text
}
