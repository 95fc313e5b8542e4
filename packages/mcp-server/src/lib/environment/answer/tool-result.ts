import type { JsonObject, LoggedStep, Observation } from '@episodic/protocol'
import { type ContentPart, contentParts, readContent } from '@episodic/protocol/internal'

export type ToolResult = {
  readonly content: readonly ContentPart[]
  readonly structuredContent?: JsonObject
  readonly isError?: true
  readonly _meta?: JsonObject
}

export function contentOf({ text, attachments, resources }: Omit<Observation, 'structured'>): ToolResult['content'] {
  // Nearly every answer is one text.
  return attachments || resources ? contentParts({ text, attachments, resources }) : [{ type: 'text', text }]
}

/** Returns the part of an answered step that a player may see, and in `_meta` what is for its trainer. */
export function toolResult({ observation, report }: LoggedStep, _meta: JsonObject): ToolResult {
  const { structured } = observation
  const content = contentOf(observation)
  if (report.refused) return { content, isError: true, _meta }
  return structured ? { content, structuredContent: structured, _meta } : { content, _meta }
}

export function toolError(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}

/** Returns the text and the data of a tool's answer as one text, with its resources and the bytes of its blobs. */
export function renderText({ content, structuredContent }: ToolResult): string {
  const data = structuredContent ? [JSON.stringify(structuredContent)] : []
  const [first, ...others] = content
  if (first?.type === 'text' && others.length === 0) return [first.text, ...data].join('\n')
  const { text, attachments = [], resources = [] } = readContent(content)
  const named = resources.map((resource) => JSON.stringify(resource))
  const blobs = attachments.flatMap(({ uri = [], data = '' }) => [uri, atob(data)].flat())
  return [text, ...data, ...named, ...blobs].join('\n')
}
