const END = '[\\n-\\r\\x1c-\\x1e\\x85\\u2028\\u2029]'
const ENDS = new RegExp(`\\r\\n|${END}`)

/** Splits a text as `splitlines()` does: at more ends than `\n`, and with nothing after the last. */
export function splitlines(text: string): string[] {
  const lines = text.split(ENDS)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]'
const OUTER = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g')
const SPACES = new RegExp(`${SPACE}+`)

/** Strips a text as `strip()` does: JavaScript's `trim` takes other characters for space. */
export function strip(text: string): string {
  return text.replace(OUTER, '')
}

/** Splits a text at any space, as `split()` does. */
export function splitWords(text: string): string[] {
  const inner = strip(text)
  return inner === '' ? [] : inner.split(SPACES)
}
