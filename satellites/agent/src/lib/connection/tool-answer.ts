import type { Json, JsonObject } from '@episodic/protocol'

/** One part of a tool's answer. An answer with a part of another type is `answer-malformed`. */
export type ToolContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource'; readonly resource: JsonObject }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string }

/** The answer of a tool. */
export interface ToolAnswer {
  /** The text parts, joined by newlines; without any, the structured content as JSON. */
  readonly text: string
  /** The structured content; `null` if there is none. */
  readonly structured: Json
  readonly content: readonly ToolContent[]
  /** Whether the tool or the server refused the call. The text is for the model, which can try again. */
  readonly isError: boolean
}

/** Creates an answer from its parts. */
export function toolAnswerOf(content: readonly ToolContent[], structured: Json, isError: boolean): ToolAnswer {
  const texts: string[] = []
  for (const part of content) if (part.type === 'text') texts.push(part.text)
  const text = texts.length > 0 || structured === null ? texts.join('\n') : JSON.stringify(structured)
  return { text, structured, content, isError }
}

/** Creates the answer of a refused call. */
export function refusedAnswer(why: string): ToolAnswer {
  return toolAnswerOf([{ type: 'text', text: why }], null, true)
}
