import type { Json, JsonObject } from '@episodic/protocol'

/** One part of what a tool answered. An answer with a part of any other type is `answer-malformed`. */
export type ToolContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource'; readonly resource: JsonObject }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string }

/** What a tool answered. */
export interface ToolAnswer {
  /** The text of all parts, one after the other; the structured content as JSON where there is no text. */
  readonly text: string
  /** The structured content, or `null` where there is none. */
  readonly structured: Json
  readonly content: readonly ToolContent[]
  /** Whether the tool itself, or the server instead of it, refused: meant for the model, which can do better. */
  readonly isError: boolean
}

/** Makes an answer of the parts of one. */
export function toolAnswerOf(content: readonly ToolContent[], structured: Json, isError: boolean): ToolAnswer {
  const texts: string[] = []
  for (const part of content) if (part.type === 'text') texts.push(part.text)
  const text = texts.length > 0 || structured === null ? texts.join('\n') : JSON.stringify(structured)
  return { text, structured, content, isError }
}

/** Makes an answer that says why a call was refused. */
export function refusedAnswer(why: string): ToolAnswer {
  return toolAnswerOf([{ type: 'text', text: why }], null, true)
}
