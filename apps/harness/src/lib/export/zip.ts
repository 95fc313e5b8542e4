import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'

/** A file in a zip. */
export interface ZipEntry {
  readonly name: string
  readonly pieces: Iterable<string> | AsyncIterable<string>
}

/**
 * Writes a zip, one entry after the other, in a stream: of what was written, memory holds the names alone. Large zips are
 * zip64.
 *
 * @param modified - the time of all entries, so that equal entries are equal bytes.
 */
export async function* zipOf(entries: AsyncIterable<ZipEntry>, modified: Date): AsyncGenerator<Uint8Array> {
  const { ZipFile } = await import('yazl')
  const zip = new ZipFile()
  const output = zip.outputStream as Readable
  let body: Readable | null = null
  // Without a reader, nothing would end the entry that is being written.
  output.once('close', () => body?.destroy())

  async function fill(): Promise<void> {
    for await (const { name, pieces } of entries) {
      if (output.destroyed) return
      body = Readable.from(pieces)
      const written = finished(body)
      zip.addReadStream(body, name, { mtime: modified })
      await written
    }
    zip.end()
  }

  const filling = fill().catch((error: Error) => void output.destroy(error))
  try {
    yield* output
  } finally {
    output.destroy()
    await filling
  }
}
