import { z } from 'zod'

/** Milliseconds since 1970 at which virtual time begins, and of files that say no other time: 1 January 2025, UTC. */
export const EPOCH = Date.UTC(2025, 0, 1)

/** Bytes of a chunk of a file of bytes: the page of a SQLite database, so that a changed page is one changed chunk. */
export const CHUNK = 4_096

const common = {
  /** Permission bits. Default: 0o644, of directories 0o755. */
  mode: z.int().min(0).max(0o7777).optional(),
  /** Milliseconds since 1970. Default: {@link EPOCH}. */
  modified: z.int().optional(),
}

const entry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: z.string(), ...common }),
  z
    .strictObject({
      kind: z.literal('bytes'),
      size: z.int().min(0),
      /** Base64, each of {@link CHUNK} bytes but the last. */
      chunks: z.array(z.string()),
      ...common,
    })
    .refine(hasItsSize, `Expected chunks of ${CHUNK} bytes that make up the size`),
  z.strictObject({ kind: z.literal('directory'), ...common }),
  z.strictObject({ kind: z.literal('link'), target: z.string() }),
])

export type Entry = z.output<typeof entry>

/** The schema of a disk: what is on it by absolute path. The root directory itself has no entry. */
export const disk = z.record(z.string().regex(/^(\/(?!\.{1,2}(\/|$))[^/\0]+)+$/), entry)

/** What is on a disk by absolute path, such as `/app/main.js`. */
export type Disk = z.output<typeof disk>

export type ReadOnlyDisk = { readonly [path: string]: Readonly<Entry> }

/** Whether a file of bytes has as many as it says: a program is given room for them. */
function hasItsSize({ size, chunks }: { readonly size: number; readonly chunks: readonly string[] }): boolean {
  const lengthAt = (index: number) => 4 * Math.ceil(Math.min(CHUNK, size - index * CHUNK) / 3)
  return chunks.length === Math.ceil(size / CHUNK) && chunks.every(({ length }, i) => length === lengthAt(i))
}

/** Whether a disk may have a path: without NUL and half of a surrogate pair. */
export function isPath(path: string): boolean {
  return !path.includes('\0') && path.isWellFormed()
}

/** Whether a name on a path is longer than disks allow, in bytes. */
export function hasLongName(path: string): boolean {
  return path.split('/').some((name) => Buffer.byteLength(name) > 255)
}

export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

/**
 * Returns the absolute path that a path means in a directory, without `.`, `..`, and doubled slashes. Nothing is above
 * the root.
 */
export function absolutePath(directory: string, path: string): string {
  const parts: string[] = []
  for (const part of (path.startsWith('/') ? path : `${directory}/${path}`).split('/'))
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  return `/${parts.join('/')}`
}

export function isWithin(path: string, directory: string): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`)
}
