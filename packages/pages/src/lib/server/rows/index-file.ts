import { readFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { type UnpackedRows, unpackRows } from '@episodic/report/rows/row-batch'
import { openToAppend, replaceFile } from '@episodic/run/base/own-files'
import { hasOwnMark, ownMark } from '@episodic/run/base/own-mark'
import { ROWS_FORMAT } from '@episodic/run/folder/index-lines'
import { z } from 'zod'

export type IndexPart = z.infer<typeof aboutSchema> & { readonly rows: UnpackedRows }

const aboutSchema = z.object({
  format: z.literal(ROWS_FORMAT),
  /** Whose figures the rows have; `null` if the environment has one seat. */
  seat: z.string().nullable(),
  from: z.int().min(0),
  to: z.int().min(0),
  tail: z.string(),
  unreadable: z.int().min(0),
})

/**
 * An index file is a list of parts, each after its length and its mark, which take a multiple of eight bytes so that
 * the arrays in it can be read in place. A file with a part without a mark of this user is not read: it may say
 * something else than the lines.
 */
const LENGTH_BYTES = 8
const MARK_BYTES = 32

/**
 * Reads the parts of an index file, each of which starts where the one before ended. `null` if there is no file, or
 * something in it is torn, of another format or of another seat.
 */
export async function readIndexFile(path: string, seat: string | null): Promise<readonly IndexPart[] | null> {
  const bytes = await readFile(path).catch(() => null)
  if (!bytes) return null
  const parts: IndexPart[] = []
  let covered = 0
  for (let at = 0; at < bytes.length; ) {
    const start = at + LENGTH_BYTES + MARK_BYTES
    if (start > bytes.length) return null
    const mark = bytes.subarray(at + LENGTH_BYTES, start)
    at = start + bytes.readUInt32LE(at)
    const packed = bytes.subarray(start, at)
    const isOwn = at <= bytes.length && (await hasOwnMark(dirname(path), basename(path), packed, mark))
    const part = isOwn ? readPart(packed) : null
    if (!part || part.seat !== seat || part.from > covered) return null
    // Two viewers of one folder may have added the same part.
    if (part.from < covered) continue
    covered = part.to
    parts.push(part)
  }
  return parts
}

function readPart(bytes: Uint8Array): IndexPart | null {
  try {
    const rows = unpackRows(bytes)
    return { ...aboutSchema.parse(rows.about), rows }
  } catch {
    return null
  }
}

/**
 * Adds parts to an index file, or writes a new one of them alone. Rejects if the folder is not writable, if the file is
 * a link, and where no mark can be made.
 */
export async function writeToIndex(path: string, parts: readonly Uint8Array[], isNew: boolean): Promise<void> {
  const framed: Buffer[] = []
  for (const packed of parts) {
    const mark = await ownMark(dirname(path), basename(path), packed)
    if (!mark) throw new Error('There is no key to mark an index with.')
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt32LE(packed.length)
    framed.push(length, mark, Buffer.from(packed))
  }
  if (isNew) return replaceFile(path, Buffer.concat(framed))
  await using file = await openToAppend(path)
  await file.appendFile(Buffer.concat(framed))
}
