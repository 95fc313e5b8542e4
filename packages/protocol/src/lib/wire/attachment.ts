import { z } from 'zod'
import { sha256OfBase64 } from '../base/digest.ts'
import type { Wire } from '../base/wire.ts'
import { mediaTypeOf, readBase64 } from './media.ts'

export const attachmentSchema = z.object({
  type: z.enum(['image', 'audio']),
  mimeType: z.string(),
  /** The SHA-256 of its bytes in hexadecimal. */
  sha256: z.string(),
  /** How many bytes it has. */
  bytes: z.int().min(0),
  /** Its bytes as base64. Left out where a line has them in an earlier step, and where they were not kept. */
  data: z.string().optional(),
})
/** A picture or a sound that is part of what a player observes. */
export type Attachment = Wire<typeof attachmentSchema>

/**
 * Returns an attachment of base64. Its type is `mimeType`, or that which its first bytes say. Returns `null` for a text
 * that is no base64, and for what is neither a picture nor a sound.
 */
export function attachmentOf(text: string, mimeType?: string): Attachment | null {
  const data = readBase64(text)
  const media = mimeType ?? (data === null ? null : mediaTypeOf(data))
  const type = media?.split('/')[0]
  if (data === null || data === '' || !media || (type !== 'image' && type !== 'audio')) return null
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return { type, mimeType: media, sha256: sha256OfBase64(data), bytes: (data.length * 3) / 4 - padding, data }
}

/** Returns a note in place of an attachment, for readers of text: `[image: image/png, 12 KB]`. */
function attachmentNote({ type, mimeType, bytes }: Attachment): string {
  return `[${type}: ${mimeType}, ${bytes < 1_000 ? `${bytes} bytes` : `${Math.round(bytes / 1_000)} KB`}]`
}

/** Returns a text with the notes of attachments below it. */
export function withAttachmentNotes(text: string, attachments: readonly Attachment[] = []): string {
  return attachments.length === 0 ? text : [text, ...attachments.map(attachmentNote)].filter(Boolean).join('\n')
}
