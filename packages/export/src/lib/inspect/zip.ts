import { pipeline, Readable } from 'node:stream'
import { crc32, createDeflateRaw } from 'node:zlib'

export interface ZipEntry {
  /** A relative path with slashes. */
  readonly name: string
  readonly pieces: Iterable<string> | AsyncIterable<string>
}

/**
 * Writes a zip, one entry after the other, in a stream: of what was written, memory holds the record in the directory
 * alone, some hundred bytes an entry. More than 65,534 entries, or 4 GiB, are zip64. An entry has less than 4 GiB; else
 * it throws a `RangeError`. Libraries for it keep far more of each entry until the end, or have no zip64.
 *
 * @param modified - the time of all entries in UTC, so that equal entries are equal bytes.
 */
export async function* writeZip(entries: AsyncIterable<ZipEntry>, modified: Date): AsyncGenerator<Uint8Array> {
  const directory: Buffer[] = []
  let offset = 0
  for await (const { name, pieces } of entries) {
    const about = aboutOf(name, modified)
    const content = { crc: 0, size: 0, compressed: 0 }
    const header = localHeader(about)
    yield header
    for await (const piece of deflated(pieces, content)) {
      content.compressed += piece.length
      yield piece
    }
    if (Math.max(content.size, content.compressed) >= MOST_32)
      throw new RangeError(`The entry ${name} has 4 GiB or more, which this zip has no room for.`)
    const descriptor = descriptorOf(content)
    yield descriptor
    directory.push(directoryRecord(about, content, offset))
    offset += header.length + content.compressed + descriptor.length
  }
  let size = 0
  for (const record of directory) {
    size += record.length
    yield record
  }
  yield ending(directory.length, size, offset)
}

interface Content {
  crc: number
  size: number
  compressed: number
}

interface About {
  readonly name: Buffer
  readonly time: number
  readonly date: number
}

const MOST_16 = 0xffff
const MOST_32 = 0xffff_ffff
const VERSION = 20
const VERSION_64 = 45
/** A descriptor follows the content, and names are UTF-8. */
const FLAGS = 0x0808
const DEFLATED = 8
/** A file of Unix that its owner may write. */
const ATTRIBUTES = (0o100644 << 16) >>> 0

async function* deflated(pieces: ZipEntry['pieces'], content: Content): AsyncGenerator<Buffer> {
  async function* measured(): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      const bytes = Buffer.from(piece)
      content.crc = crc32(bytes, content.crc)
      content.size += bytes.length
      yield bytes
    }
  }
  // An error of the source ends the loop too, and leaving the loop ends the source.
  yield* pipeline(Readable.from(measured()), createDeflateRaw(), () => {})
}

function aboutOf(name: string, modified: Date): About {
  // The format counts from 1980, in steps of two seconds.
  const year = Math.max(0, modified.getUTCFullYear() - 1980)
  return {
    name: Buffer.from(name),
    time: (modified.getUTCHours() << 11) | (modified.getUTCMinutes() << 5) | (modified.getUTCSeconds() >> 1),
    date: (year << 9) | ((modified.getUTCMonth() + 1) << 5) | modified.getUTCDate(),
  }
}

/** Sizes are 0 in front of the content, and in the descriptor behind it. */
function localHeader({ name, time, date }: About): Buffer {
  const header = Buffer.alloc(30 + name.length)
  header.writeUInt32LE(0x0403_4b50, 0)
  header.writeUInt16LE(VERSION, 4)
  header.writeUInt16LE(FLAGS, 6)
  header.writeUInt16LE(DEFLATED, 8)
  header.writeUInt16LE(time, 10)
  header.writeUInt16LE(date, 12)
  header.writeUInt16LE(name.length, 26)
  name.copy(header, 30)
  return header
}

function descriptorOf({ crc, size, compressed }: Content): Buffer {
  const descriptor = Buffer.alloc(16)
  descriptor.writeUInt32LE(0x0807_4b50, 0)
  descriptor.writeUInt32LE(crc, 4)
  descriptor.writeUInt32LE(compressed, 8)
  descriptor.writeUInt32LE(size, 12)
  return descriptor
}

function directoryRecord({ name, time, date }: About, { crc, size, compressed }: Content, offset: number): Buffer {
  const isFar = offset >= MOST_32
  const record = Buffer.alloc(46 + name.length + (isFar ? 12 : 0))
  record.writeUInt32LE(0x0201_4b50, 0)
  // Of Unix, so that the attributes are.
  record.writeUInt16LE((3 << 8) | VERSION_64, 4)
  record.writeUInt16LE(isFar ? VERSION_64 : VERSION, 6)
  record.writeUInt16LE(FLAGS, 8)
  record.writeUInt16LE(DEFLATED, 10)
  record.writeUInt16LE(time, 12)
  record.writeUInt16LE(date, 14)
  record.writeUInt32LE(crc, 16)
  record.writeUInt32LE(compressed, 20)
  record.writeUInt32LE(size, 24)
  record.writeUInt16LE(name.length, 28)
  record.writeUInt16LE(isFar ? 12 : 0, 30)
  record.writeUInt32LE(ATTRIBUTES, 38)
  record.writeUInt32LE(Math.min(offset, MOST_32), 42)
  name.copy(record, 46)
  if (isFar) {
    record.writeUInt16LE(1, 46 + name.length)
    record.writeUInt16LE(8, 48 + name.length)
    record.writeBigUInt64LE(BigInt(offset), 50 + name.length)
  }
  return record
}

/** The end of the directory, with that of zip64 in front if a number has no room in it. */
function ending(count: number, size: number, offset: number): Buffer {
  const isLarge = count >= MOST_16 || size >= MOST_32 || offset >= MOST_32
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x0605_4b50, 0)
  end.writeUInt16LE(Math.min(count, MOST_16), 8)
  end.writeUInt16LE(Math.min(count, MOST_16), 10)
  end.writeUInt32LE(Math.min(size, MOST_32), 12)
  end.writeUInt32LE(Math.min(offset, MOST_32), 16)
  if (!isLarge) return end
  const large = Buffer.alloc(76)
  large.writeUInt32LE(0x0606_4b50, 0)
  large.writeBigUInt64LE(44n, 4)
  large.writeUInt16LE((3 << 8) | VERSION_64, 12)
  large.writeUInt16LE(VERSION_64, 14)
  large.writeBigUInt64LE(BigInt(count), 24)
  large.writeBigUInt64LE(BigInt(count), 32)
  large.writeBigUInt64LE(BigInt(size), 40)
  large.writeBigUInt64LE(BigInt(offset), 48)
  // Where the end of zip64 begins.
  large.writeUInt32LE(0x0706_4b50, 56)
  large.writeBigUInt64LE(BigInt(offset + size), 64)
  large.writeUInt32LE(1, 72)
  return Buffer.concat([large, end])
}
