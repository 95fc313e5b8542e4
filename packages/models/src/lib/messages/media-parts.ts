import type { Attachment, Json, JsonObject } from '@episodic/protocol'
import { attachmentOf, isObject, toText, withAttachmentNotes } from '@episodic/protocol/internal'

// Pictures and PDFs in messages of chat completions. The API takes them from the user alone, so those of a tool's
// result follow it in a message of the user. Of a sound or another file there is a note: few models take them.

type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'file'; readonly file: { readonly filename: string; readonly file_data: string } }
export type Content = string | Part[]

const MEDIA = ['image_url', 'file'] as const
export type Medium = (typeof MEDIA)[number]

/**
 * Returns a message of the user with a text, a note of each attachment, and the pictures and PDFs that are there, each
 * below its note.
 */
export function userMessage(text: string, attachments: readonly Attachment[] = []) {
  const parts = attachments.flatMap((attachment): Part[] => {
    const note: Part = { type: 'text', text: withAttachmentNotes('', [attachment]) }
    const { type, mimeType, data } = attachment
    if (data === undefined) return [note]
    const url = `data:${mimeType};base64,${data}`
    if (type === 'image') return [note, { type: 'image_url', image_url: { url } }]
    return mimeType === PDF ? [note, { type: 'file', file: { filename: 'file.pdf', file_data: url } }] : [note]
  })
  const content: Part[] = [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...parts]
  return { role: 'user', content: hasMedia(content) ? content : joinTexts(content) }
}

const PDF = 'application/pdf'

export function joinContents(one: Content, other: Content): Content {
  if (typeof one === 'string' && typeof other === 'string') return [one, other].join('\n\n')
  return [...toParts(one), ...toParts(other)]
}

export function joinTexts(content: unknown): string {
  if (!Array.isArray(content)) return toText(content as Json | undefined)
  return content.flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : [])).join('\n')
}

export function hasMedia(content: unknown, types: readonly string[] = MEDIA): boolean {
  return Array.isArray(content) && content.some((part) => isObject(part) && types.includes(part.type as string))
}

export function withoutMedia(content: unknown, type: Medium): Content {
  const parts = (content as Part[]).filter((part) => part.type !== type)
  return hasMedia(parts) ? parts : joinTexts(parts)
}

export function mediumOf(part: Json): Attachment | null {
  const url = isObject(part) ? urlOf(part) : null
  return url === null ? null : attachmentOf(url, /^data:([^;,]+)/.exec(url)?.[1], '')
}

/** Returns a message as it is recorded: with the hashes of its pictures and PDFs, which the steps have. */
export function withoutMediaData(message: JsonObject): JsonObject {
  const { content } = message
  if (!Array.isArray(content) || !hasMedia(content)) return message
  return {
    ...message,
    content: content.map((part) => {
      const medium = mediumOf(part)
      if (!medium) return part
      const url = `sha256:${medium.sha256}`
      const { type, file } = part as JsonObject
      return type === 'file'
        ? { type, file: { ...(file as JsonObject), file_data: url } }
        : { type, image_url: { url } }
    }),
  }
}

function urlOf({ type, image_url: image, file }: JsonObject): string | null {
  const url = type === 'image_url' && isObject(image) ? image.url : null
  const data = type === 'file' && isObject(file) ? file.file_data : null
  return [url, data].find((given) => typeof given === 'string') ?? null
}

function toParts(content: Content): Part[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}
