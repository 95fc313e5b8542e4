import { z } from 'zod'
import type { Wire } from '../base/wire.ts'
import { type Attachment, attachmentOf, withAttachmentNotes } from './attachment.ts'
import type { Observation, ResourceInText } from './observation.ts'

// The parts of a tool's answer in MCP, and the observation that they are. An observation has one text, in which the
// texts of its resources are, and a note of each link: a reader of the text alone reads all that can be read.

const textSchema = z.string().optional()
export const contentPartSchema = z.looseObject({
  type: z.string(),
  text: textSchema,
  data: textSchema,
  mimeType: textSchema,
  uri: textSchema,
  name: textSchema,
  resource: z.looseObject({ uri: textSchema, text: textSchema, blob: textSchema, mimeType: textSchema }).optional(),
})
export type ContentPart = Wire<typeof contentPartSchema>

type Content = Pick<Observation, 'text' | 'attachments' | 'resources'>

interface ContentBounds {
  /** Characters of base64. */
  readonly base64: number
  readonly attachments: number
}

/**
 * Returns what an observation has of the parts of an answer: their texts, in lines, with those of resources; a note of
 * each part that is neither a text nor kept; and pictures, sounds and files.
 */
export function readContent(content: readonly ContentPart[], bounds?: ContentBounds): Content {
  const texts: string[] = []
  const attachments: Attachment[] = []
  const resources: ResourceInText[] = []
  let room = bounds?.base64 ?? Number.POSITIVE_INFINITY
  let at = 0
  const add = (text: string, resource?: Omit<ResourceInText, 'from' | 'to'>) => {
    texts.push(text)
    if (resource) resources.push({ ...resource, from: at, to: at + text.length })
    at += text.length + 1
  }
  for (const part of content) {
    const { type, text, resource } = part
    const { uri, mimeType } = resource ?? part
    const found = attachmentOf(part.data ?? resource?.blob ?? '', mimeType, resource?.uri)
    const words = text ?? resource?.text
    if (type === 'resource' && uri !== undefined && resource?.text !== undefined)
      add(resource.text, { type, uri, ...(mimeType !== undefined && { mimeType }) })
    else if (words !== undefined) add(words)
    else if (found?.data && found.data.length <= room && attachments.length < (bounds?.attachments ?? room)) {
      room -= found.data.length
      attachments.push(found)
    } else if (found) add(`${withAttachmentNotes('', [found])} It is too large to be shown.`)
    else if (type === 'resource_link' && uri !== undefined && part.name !== undefined)
      add(noteOf(part), linkOf(part as ContentPart & { readonly uri: string; readonly name: string }))
    else add(noteOf({ ...part, uri }))
  }
  return {
    text: texts.join('\n'),
    ...(attachments.length > 0 && { attachments }),
    ...(resources.length > 0 && { resources }),
  }
}

/** Returns the parts of the content of an answer, which {@link readContent} reads as the same. */
export function contentParts({ text, attachments = [], resources = [] }: Content): ContentPart[] {
  const parts: ContentPart[] = []
  let at = 0
  for (const { type, from, to, ...resource } of resources) {
    // Parts are in lines.
    if (from > at) parts.push({ type: 'text', text: text.slice(at, from - 1) })
    parts.push(
      type === 'resource_link'
        ? { type, ...resource }
        : { type, resource: { ...resource, text: text.slice(from, to) } },
    )
    at = to + 1
  }
  if (at <= text.length) parts.push({ type: 'text', text: text.slice(at) })
  for (const { type, mimeType, data, uri } of attachments) {
    if (data === undefined) continue
    if (uri === undefined) parts.push({ type, data, mimeType })
    else parts.push({ type: 'resource', resource: { uri, mimeType, blob: data } })
  }
  return parts
}

const LINK_TEXTS = ['title', 'description', 'mimeType'] as const

function linkOf(part: ContentPart & { readonly uri: string; readonly name: string }) {
  const { uri, name, size } = part
  const texts = LINK_TEXTS.flatMap((key) => (typeof part[key] === 'string' ? [[key, part[key]]] : []))
  return {
    type: 'resource_link' as const,
    uri,
    name,
    ...Object.fromEntries(texts),
    ...(Number.isSafeInteger(size) && { size: size as number }),
  }
}

/** Returns a note in place of a part that has no text. */
function noteOf({ type, name, uri }: Pick<ContentPart, 'type' | 'name' | 'uri'>): string {
  return `[${[type, name, uri].filter(Boolean).join(' ')}]`
}
