// Everything that git reads and writes is bytes: contents, names of files, messages. Here they are strings with a
// character for each byte, so that they are split, compared and sorted as git does.

/** Returns the bytes of a text. */
export function toByteString(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Returns the text of bytes. */
export function fromByteString(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString()
}

/** Returns the lines of bytes, each with its line feed; the last may have none. */
export function splitLines(bytes: string): string[] {
  const lines = bytes.split('\n')
  const last = lines.pop() as string
  const whole = lines.map((line) => `${line}\n`)
  if (last !== '') whole.push(last)
  return whole
}

/** Returns whether git takes a content for binary: one with a NUL at its beginning. */
export function isBinary(bytes: string): boolean {
  const nul = bytes.indexOf('\0')
  return nul >= 0 && nul < 8_000
}

/** Returns a path as git prints it: in quotes if it has a character that is none of ASCII's, or a control character. */
export function quotedPath(path: string): string {
  if (![...path].some(isOdd)) return path
  const escaped = (byte: string) => ESCAPES[byte] ?? `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`
  return `"${[...path].map((byte) => (isOdd(byte) ? escaped(byte) : byte)).join('')}"`
}

function isOdd(byte: string): boolean {
  return byte < ' ' || byte > '~' || byte === '"' || byte === '\\'
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
}

/** Returns the regular expression that only a text itself matches. */
export function toPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** Compares two strings of bytes by their bytes. */
export function compareBytes(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
