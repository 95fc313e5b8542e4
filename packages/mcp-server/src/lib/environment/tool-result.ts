import type { JsonObject, LoggedStep } from '@episodic/protocol'

/** A `tools/call` result as MCP says it. */
export type ToolResult = {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }]
  readonly structuredContent?: JsonObject
  readonly isError?: true
  readonly _meta?: JsonObject
}

/** The part of an answered step that a player may see: no byte of reward, end or control is in it. */
export function toolResult({ observation, report }: LoggedStep): ToolResult {
  const { text, structured } = observation
  const content = [{ type: 'text', text }] as const
  if (report.refused) return { content, isError: true }
  return structured ? { content, structuredContent: structured } : { content }
}

/** A refusal that a model can read and mend. */
export function toolError(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** What a policy sees of a tool's answer, as text. */
export function renderText({ content: [{ text }], structuredContent }: ToolResult): string {
  return structuredContent ? `${text}\n${JSON.stringify(structuredContent)}` : text
}
