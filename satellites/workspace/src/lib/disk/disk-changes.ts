import { z } from 'zod'
import { type Disk, disk, type Entry } from './disk.ts'

const path = z.string()
const common = { mode: z.int().optional(), modified: z.int().optional() }

export const diskChanges = z.array(
  z.discriminatedUnion('how', [
    z.strictObject({ how: z.literal('remove'), path }),
    z.strictObject({ how: z.literal('write'), path, entry: disk.valueType }),
    /** Replaces `cut` UTF-16 units of a text from `at` on. */
    z.strictObject({ how: z.literal('splice'), path, at: z.int(), cut: z.int(), text: z.string(), ...common }),
    /** Replaces chunks of a file of bytes by their index. */
    z.strictObject({
      how: z.literal('chunks'),
      path,
      size: z.int(),
      count: z.int(),
      chunks: z.array(z.tuple([z.int(), z.string()])),
      ...common,
    }),
  ]),
)

export type DiskChanges = z.output<typeof diskChanges>
type Change = DiskChanges[number]

/** Characters of a text from which on a change of it is recorded as a splice. */
const SPLICED = 1_024

export function changeOf(path: string, before: Readonly<Entry> | undefined, after: Entry | null): Change | null {
  if (!after) return before ? { how: 'remove', path } : null
  if (before && JSON.stringify(before) === JSON.stringify(after)) return null
  if (before?.kind === 'text' && after.kind === 'text' && after.text.length >= SPLICED)
    return splice(path, before, after)
  if (before?.kind === 'bytes' && after.kind === 'bytes') {
    const { chunks, kind: _, ...rest } = after
    const changed = chunks.flatMap((chunk, index): [number, string][] =>
      chunk === before.chunks[index] ? [] : [[index, chunk]],
    )
    return { how: 'chunks', path, ...rest, count: chunks.length, chunks: changed }
  }
  return { how: 'write', path, entry: after }
}

type TextEntry = Extract<Entry, { kind: 'text' }>

function splice(
  path: string,
  { text: before }: Readonly<TextEntry>,
  { text: after, kind: _, ...rest }: TextEntry,
): Change {
  const least = Math.min(before.length, after.length)
  let at = 0
  while (at < least && before.charCodeAt(at) === after.charCodeAt(at)) at += 1
  let end = 0
  while (end < least - at && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end))
    end += 1
  // Half a surrogate pair is no text that JSON can say.
  if (isLow(after, at) || isLow(before, at)) at -= 1
  if (end > 0 && (isLow(after, after.length - end) || isLow(before, before.length - end))) end -= 1
  return { how: 'splice', path, at, cut: before.length - at - end, text: after.slice(at, after.length - end), ...rest }
}

function isLow(text: string, index: number): boolean {
  const unit = text.charCodeAt(index)
  return unit >= 0xdc00 && unit <= 0xdfff
}

export function applyChanges(disk: Disk, changes: DiskChanges): void {
  for (const change of changes) {
    const { path } = change
    if (change.how === 'remove') delete disk[path]
    else if (change.how === 'write') disk[path] = change.entry
    else if (change.how === 'splice') {
      const { how: _, path: __, at, cut, text, ...rest } = change
      const { text: before } = disk[path] as TextEntry
      disk[path] = { kind: 'text', text: before.slice(0, at) + text + before.slice(at + cut), ...rest }
    } else {
      const { how: _, path: __, size, count, chunks, ...rest } = change
      const entry = disk[path] as Extract<Entry, { kind: 'bytes' }>
      if (entry.chunks.length > count) entry.chunks.length = count
      for (const [index, chunk] of chunks) entry.chunks[index] = chunk
      entry.size = size
      if (rest.mode !== undefined) entry.mode = rest.mode
      if (rest.modified !== undefined) entry.modified = rest.modified
    }
  }
}
