/**
 * Returns a text with another one in place of a part of it, wherever that is, and how often it is there. In a text
 * whose lines end in CRLF both may be given with LF alone, as models write them, and the line ends stay.
 */
export function editText(text: string, old: string, replacement: string): readonly [text: string, count: number] {
  const ended = (given: string) => (/^.*\r\n/.test(text) ? given.replaceAll(/\r?\n/g, '\r\n') : given)
  const parts = text.split(text.includes(old) ? old : ended(old))
  return [parts.join(ended(replacement)), parts.length - 1]
}
