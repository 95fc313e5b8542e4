import { CHUNK, type Entry } from './disk.ts'

/** The content of a file: a text where its bytes are the UTF-8 of one. */
export type Content = string | Uint8Array

type FileEntry = Extract<Entry, { kind: 'text' | 'bytes' }>

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function contentOf(entry: Readonly<FileEntry>): Content {
  if (entry.kind === 'text') return entry.text
  const bytes = new Uint8Array(entry.size)
  for (const [index, chunk] of entry.chunks.entries()) bytes.set(Buffer.from(chunk, 'base64'), index * CHUNK)
  return bytes
}

export function toBytes(content: Content): Uint8Array {
  return typeof content === 'string' ? encoder.encode(content) : content
}

/** Returns a content as a text; `null` for bytes that are not the UTF-8 of a text. */
export function toText(content: Content): string | null {
  if (typeof content === 'string') return content
  try {
    return decoder.decode(content)
  } catch {
    return null
  }
}

export function sizeOf(content: Content): number {
  return typeof content === 'string' ? Buffer.byteLength(content) : content.length
}

/** Returns the entry for a content, without mode and time: of kind `text` if it is one without NUL. */
export function entryFor(content: Content): Pick<FileEntry, 'kind'> & FileEntry {
  const text = typeof content === 'string' && content.isWellFormed() ? content : toText(toBytes(content))
  if (text !== null && !text.includes('\0')) return { kind: 'text', text }
  const bytes = toBytes(content)
  return { kind: 'bytes', size: bytes.length, chunks: chunksOf(bytes) }
}

function chunksOf(bytes: Uint8Array): string[] {
  const chunks: string[] = []
  for (let start = 0; start < bytes.length; start += CHUNK) chunks.push(chunkAt(bytes, start))
  return chunks
}

function chunkAt(bytes: Uint8Array, start: number): string {
  const { length } = bytes.subarray(start, start + CHUNK)
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString('base64')
}
