import type { Json, JsonObject } from '@episodic/protocol'
import { type ContentPart, readContent, wellFormed, withAttachmentNotes } from '@episodic/protocol/internal'

/** One part of a tool's answer. An answer with a part of another type is `answer-malformed`. */
export type ToolContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource'; readonly resource: JsonObject }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string }

export interface ToolAnswer {
  /** The text parts, texts of resources and a note of each link, in lines; without any, the data as JSON. */
  readonly text: string
  /** The structured content; `null` if there is none. */
  readonly structured: Json
  readonly content: readonly ToolContent[]
  /** Whether the tool or the server refused the call. The text is for the model, which can try again. */
  readonly isError: boolean
}

/** Creates an answer from its parts. Half of a surrogate pair, which servers of models refuse, becomes U+FFFD. */
export function toolAnswerOf(parts: readonly ToolContent[], data: Json, isError: boolean): ToolAnswer {
  const [content, structured] = [wellFormed(parts), wellFormed(data)]
  const said = readContent(content as readonly ContentPart[]).text
  const text = said === '' && structured !== null ? JSON.stringify(structured) : said
  return { text, structured, content, isError }
}

/** A part of an answer as a model is given it: a text, or a picture or a sound in base64. */
export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }

/** Returns the parts of an answer for a model, or its text if there is no media. Other files are a note. */
export function modelPartsOf({ text, content }: ToolAnswer): string | ModelPart[] {
  const parts = content.map((part): ModelPart => {
    const { text, attachments: [attached] = [] } = readContent([part as ContentPart])
    const { type, data = '', mimeType } = attached ?? {}
    if (type === 'image' || type === 'audio') return { type, data, mimeType: mimeType as string }
    return { type: 'text', text: withAttachmentNotes(text, attached && [attached]) }
  })
  return parts.some(({ type }) => type !== 'text') ? parts : text
}

export function refusedAnswer(why: string): ToolAnswer {
  return toolAnswerOf([{ type: 'text', text: why }], null, true)
}
