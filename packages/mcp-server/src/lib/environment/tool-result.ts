import type { Attachment, JsonObject, LoggedStep } from '@episodic/protocol'

/** The result of an MCP `tools/call`. */
export type ToolResult = {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }, ...MediaPart[]]
  readonly structuredContent?: JsonObject
  readonly isError?: true
  readonly _meta?: JsonObject
}

/** A picture or a sound of an answer, as base64. */
interface MediaPart {
  readonly type: 'image' | 'audio'
  readonly data: string
  readonly mimeType: string
}

/** Returns the content of an answer: its text, and its pictures and sounds. */
export function contentOf(text: string, attachments: readonly Attachment[] = []): ToolResult['content'] {
  return [
    { type: 'text', text },
    ...attachments.flatMap(({ type, mimeType, data }) => (data === undefined ? [] : [{ type, data, mimeType }])),
  ]
}

/** Returns the part of an answered step that a player may see: nothing of reward, end or control. */
export function toolResult({ observation, report }: LoggedStep): ToolResult {
  const { text, structured, attachments } = observation
  const content = contentOf(text, attachments)
  if (report.refused) return { content, isError: true }
  return structured ? { content, structuredContent: structured } : { content }
}

/** Returns a refusal as a tool error, which a model can read and correct. */
export function toolError(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** Returns the text and the data of a tool's answer as one text, with the bytes of its pictures and sounds. */
export function renderText({ content: [{ text }, ...media], structuredContent }: ToolResult): string {
  const said = structuredContent ? `${text}\n${JSON.stringify(structuredContent)}` : text
  return media.length === 0 ? said : [said, ...media.map(({ data }) => atob(data))].join('\n')
}
