import { DiskError, type EditedDisk } from '../disk/edited-disk.ts'
import { toText } from '../disk/file-content.ts'
import { listed } from '../disk/read-disk.ts'

const MOST_READ = 32_000

export function readText(disk: EditedDisk, path: string): string {
  const text = toText(disk.read(path))
  if (text === null) throw new DiskError('EINVAL', 'not a text file', path)
  return text
}

export function readLines(disk: EditedDisk, path: string, start: number, count: number): string {
  const text = readText(disk, path)
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  if (lines.length === 0) return `${path} is empty.`
  if (start > lines.length) return `${path} has ${lines.length} lines.`
  const read: string[] = []
  let length = 0
  for (const line of lines.slice(start - 1, start - 1 + count)) {
    length += line.length + 8
    if (length > MOST_READ && read.length > 0) break
    read.push(`${String(start + read.length).padStart(6)}\t${line.slice(0, MOST_READ)}`.toWellFormed())
  }
  const last = start - 1 + read.length
  const more =
    last < lines.length ? `\n[lines ${start} to ${last} of ${lines.length}; read on with start_line ${last + 1}]` : ''
  return `${read.join('\n')}${more}`
}

const MOST_LISTED = 500

export function listing(disk: EditedDisk, directory: string, depth: number): string {
  disk.list(directory)
  const resolved = disk.resolve(directory, 'scandir')
  const above = resolved === '/' ? 0 : resolved.split('/').length - 1
  const found = listed(disk, resolved).filter(({ path }) => path.split('/').length - 1 - above <= depth)
  const lines = found
    .slice(0, MOST_LISTED)
    .map(({ path, kind, bytes }) => (kind === 'file' ? `${path} ${bytes}` : kind === 'link' ? `${path} @` : `${path}/`))
  if (lines.length === 0) return `${directory} is empty.`
  const more =
    found.length > MOST_LISTED ? [`[${found.length - MOST_LISTED} more: list a directory below, or less depth]`] : []
  return [...lines, ...more].join('\n')
}
