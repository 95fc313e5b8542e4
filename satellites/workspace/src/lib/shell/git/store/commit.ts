import { fatal } from '../git-error.ts'
import type { Objects } from './objects.ts'

/** Who has made a commit or a tag, and when. */
export interface Signature {
  readonly name: string
  readonly email: string
  /** Seconds since 1970. */
  readonly time: number
  /** Such as `+0100`. */
  readonly zone: string
}

export interface Commit {
  readonly id: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

/** Reads a commit. */
export function readCommit(objects: Objects, id: string): Commit {
  const { type, data } = objects.read(id)
  if (type !== 'commit') throw fatal(`object ${id} is a ${type}, not a commit`)
  const end = data.indexOf('\n\n')
  const head = end < 0 ? data : data.slice(0, end)
  const parents: string[] = []
  const fields = new Map<string, string>()
  for (const line of head.split('\n')) {
    const [, name = '', value = ''] = /^(\w+) (.*)$/.exec(line) ?? []
    if (name === 'parent') parents.push(value)
    else if (name !== '' && !fields.has(name)) fields.set(name, value)
  }
  return {
    id,
    tree: fields.get('tree') ?? '',
    parents,
    author: parseSignature(fields.get('author') ?? ''),
    committer: parseSignature(fields.get('committer') ?? ''),
    message: end < 0 ? '' : data.slice(end + 2),
  }
}

export function writeCommit(
  objects: Objects,
  { tree, parents, author, committer, message }: Omit<Commit, 'id'>,
): string {
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${formatSignature(author)}`,
    `committer ${formatSignature(committer)}`,
  ]
  return objects.write('commit', `${lines.join('\n')}\n\n${message}`)
}

export function parseSignature(text: string): Signature {
  const [, name = '', email = '', time = '0', zone = '+0000'] =
    /^(.*?) ?<([^>]*)>(?: (-?\d+) ([+-]\d{4}))?/.exec(text) ?? []
  return { name, email, time: Number(time), zone }
}

export function formatSignature({ name, email, time, zone }: Signature): string {
  return `${name} <${email}> ${time} ${zone}`
}

/** A tag with a message. */
export interface Tag {
  readonly object: string
  readonly type: string
  readonly name: string
  readonly tagger: Signature
  readonly message: string
}

export function readTag(objects: Objects, id: string): Tag {
  const { data } = objects.read(id)
  const end = data.indexOf('\n\n')
  const field = (name: string) => new RegExp(`^${name} (.*)$`, 'm').exec(data.slice(0, end))?.[1] ?? ''
  return {
    object: field('object'),
    type: field('type'),
    name: field('tag'),
    tagger: parseSignature(field('tagger')),
    message: data.slice(end + 2),
  }
}

/** Returns the first line of a message: its first paragraph, on one line. */
export function subjectOf(message: string): string {
  return (message.replace(/^\n+/, '').split(/\n\s*\n/, 1)[0] ?? '').trimEnd().replace(/\s*\n/g, ' ')
}

/** Returns what follows the first paragraph of a message. */
export function bodyOf(message: string): string {
  const text = message.replace(/^\n+/, '')
  const end = /\n\s*\n/.exec(text)
  return end ? text.slice(end.index + end[0].length).replace(/^\n+/, '') : ''
}

/** Returns a message as git cleans it up: without white space at ends of lines, and with single empty lines. */
export function cleanMessage(message: string, withoutComments = false): string {
  const lines = message
    .split('\n')
    .filter((line) => !(withoutComments && line.startsWith('#')))
    .map((line) => line.trimEnd())
  const text = lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+|\n+$/g, '')
  return text === '' ? '' : `${text}\n`
}
