import { z } from 'zod'
import { sha256OfBase64 } from '../base/digest.ts'
import type { Wire } from '../base/wire.ts'
import { mediaTypeOf, readBase64 } from './media.ts'

export const attachmentSchema = z.object({
  /** `file`: a resource that is neither a picture nor a sound. */
  type: z.enum(['image', 'audio', 'file']),
  mimeType: z.string(),
  /** The address of a resource. Left out of a picture or a sound that is none. */
  uri: z.string().optional(),
  /** The SHA-256 of its bytes in hexadecimal. */
  sha256: z.string(),
  bytes: z.int().min(0),
  /** Its bytes as base64. Left out where a line has them in an earlier step, and where they were not kept. */
  data: z.string().optional(),
})
/** A picture, a sound or a file that is part of what a player observes. */
export type Attachment = Wire<typeof attachmentSchema>

/**
 * Returns an attachment of base64. Its type is `mimeType`, or that which its first bytes say. Returns `null` for a text
 * that is no base64, and for what is neither a picture nor a sound, nor a resource.
 *
 * @param uri - the address of a resource.
 */
export function attachmentOf(text: string, mimeType?: string, uri?: string): Attachment | null {
  const data = readBase64(text)
  if (data === null || data === '') return null
  const media = mimeType ?? mediaTypeOf(data) ?? (uri === undefined ? '' : 'application/octet-stream')
  const type = MEDIA.find((kind) => media.startsWith(`${kind}/`)) ?? (uri === undefined ? null : 'file')
  if (type === null) return null
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  const bytes = (data.length * 3) / 4 - padding
  return { type, mimeType: media, ...(uri !== undefined && { uri }), sha256: sha256OfBase64(data), bytes, data }
}

const MEDIA = ['image', 'audio'] as const

/** Returns a note in place of an attachment, for readers of text: `[image: image/png, 12 KB]`. */
function attachmentNote({ type, mimeType, bytes, uri }: Attachment): string {
  const size = bytes < 1_000 ? `${bytes} bytes` : `${Math.round(bytes / 1_000)} KB`
  return `[${type}: ${[mimeType, size, ...(uri === undefined ? [] : [uri])].join(', ')}]`
}

export function withAttachmentNotes(text: string, attachments: readonly Attachment[] = []): string {
  return attachments.length === 0 ? text : [text, ...attachments.map(attachmentNote)].filter(Boolean).join('\n')
}
