import { readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { type UnpackedRows, unpackRows } from '@episodic/report'
import { z } from 'zod'
import { openToAppend, replaceFile } from '../../base/own-files.ts'
import { hasOwnMark, ownMark } from '../../base/own-mark.ts'

/** A part of an index file: the rows of lines that follow each other. */
export interface IndexPart extends IndexAbout {
  readonly rows: UnpackedRows
}

/** What an index file says of a part, see `IndexedRows`. */
export type IndexAbout = z.infer<typeof aboutSchema>

/** The version of the parts. A file with another one is made anew. */
const FORMAT = 2
const aboutSchema = z.object({
  format: z.literal(FORMAT),
  /** Whose figures the rows have; `null` if the environment has one seat. */
  seat: z.string().nullable(),
  from: z.int().min(0),
  to: z.int().min(0),
  tail: z.string(),
  unreadable: z.int().min(0),
})

/**
 * An index file is a list of parts, each after its length and its mark, which take a multiple of eight bytes so that
 * the arrays in it can be read in place. A part without a mark of this user is left out: it may say something else than
 * the lines.
 */
const LENGTH_BYTES = 8
const MARK_BYTES = 32

/**
 * Reads the parts of an index file, each of which starts where the one before ended. What follows a part that is torn
 * or does not fit is left out; there are none if there is no file. `isSound` says whether more can be added: nothing in
 * the file is torn, of another format or of another seat.
 */
export async function readIndexFile(path: string, seat: string | null) {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0))
  const parts: IndexPart[] = []
  let covered = 0
  for (let at = 0; at < bytes.length; ) {
    const start = at + LENGTH_BYTES + MARK_BYTES
    if (start > bytes.length) return { parts, isSound: false }
    const mark = bytes.subarray(at + LENGTH_BYTES, start)
    at = start + bytes.readUInt32LE(at)
    const packed = bytes.subarray(start, at)
    const isOwn = at <= bytes.length && (await hasOwnMark(dirname(path), basename(path), packed, mark))
    const part = isOwn ? readPart(packed) : null
    if (!part || part.seat !== seat || part.from > covered) return { parts, isSound: false }
    // Two viewers of one folder may have added the same part.
    if (part.from < covered) continue
    covered = part.to
    parts.push(part)
  }
  return { parts, isSound: true }
}

function readPart(bytes: Uint8Array): IndexPart | null {
  try {
    const rows = unpackRows(bytes)
    return { ...aboutSchema.parse(rows.about), rows }
  } catch {
    return null
  }
}

/** Returns what an index file says of a part. */
export function aboutPart(about: Omit<IndexAbout, 'format'>): IndexAbout {
  return { format: FORMAT, ...about }
}

/**
 * Adds a part to an index file. Rejects if the folder is not writable, if the file is a link, and where no mark can be
 * made.
 */
export async function appendToIndex(path: string, packed: Uint8Array): Promise<void> {
  await using file = await openToAppend(path)
  await file.appendFile(await framed(path, packed))
}

/**
 * Replaces an index file by one of a single part. Rejects if the folder is not writable, and where no mark can be made.
 */
export async function replaceIndex(path: string, packed: Uint8Array): Promise<void> {
  await replaceFile(path, await framed(path, packed))
}

async function framed(path: string, packed: Uint8Array): Promise<Buffer> {
  const mark = await ownMark(dirname(path), basename(path), packed)
  if (!mark) throw new Error('There is no key to mark an index with.')
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(packed.length)
  return Buffer.concat([length, mark, packed])
}
