import type { Attachment, Json, JsonObject } from '@episodic/protocol'
import { attachmentOf, isObject, toText, withAttachmentNotes } from '@episodic/protocol/internal'
import type OpenAI from 'openai'

// Pictures in messages of chat completions. The API takes them from the user alone, so the pictures of a tool's result
// follow it in a message of the user. Of a sound there is a note: few models take them.

type Part = OpenAI.ChatCompletionContentPart
type Content = string | Part[]

/**
 * Returns a message of the user with a text, a note of each picture and sound, and the pictures that are there, each
 * below its note.
 */
export function userMessage(
  text: string,
  attachments: readonly Attachment[] = [],
): OpenAI.ChatCompletionUserMessageParam {
  const parts = attachments.flatMap((attachment): Part[] => {
    const note: Part = { type: 'text', text: withAttachmentNotes('', [attachment]) }
    const { type, mimeType, data } = attachment
    if (type !== 'image' || data === undefined) return [note]
    return [note, { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }]
  })
  const content: Part[] = [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...parts]
  return { role: 'user', content: hasPicture(content) ? content : joinTexts(content) }
}

/** Returns two contents of the user as one. */
export function joinContents(one: Content, other: Content): Content {
  if (typeof one === 'string' && typeof other === 'string') return [one, other].join('\n\n')
  return [...toParts(one), ...toParts(other)]
}

/** Returns the texts of a content, without its pictures. */
export function joinTexts(content: unknown): string {
  if (!Array.isArray(content)) return toText(content as Json | undefined)
  return content.flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : [])).join('\n')
}

/** Whether a content has a picture. */
export function hasPicture(content: unknown): boolean {
  return Array.isArray(content) && content.some((part) => isObject(part) && part.type === 'image_url')
}

/** Returns the base64 and the type of a picture; `null` for any other part. */
export function pictureOf(part: Json): Attachment | null {
  const { type, image_url: image } = isObject(part) ? part : {}
  return type === 'image_url' && isObject(image) && typeof image.url === 'string' ? readPicture(image.url) : null
}

/** Returns a message as it is recorded: with the hashes of its pictures, which the steps have. */
export function withoutPictureData(message: JsonObject): JsonObject {
  const { content } = message
  if (!Array.isArray(content) || !hasPicture(content)) return message
  return {
    ...message,
    content: content.map((part) => {
      const picture = pictureOf(part)
      return picture ? { type: 'image_url', image_url: { url: `sha256:${picture.sha256}` } } : part
    }),
  }
}

function readPicture(url: string): Attachment | null {
  return attachmentOf(url, /^data:([^;,]+)/.exec(url)?.[1])
}

function toParts(content: Content): Part[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}
