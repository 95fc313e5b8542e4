/**
 * Returns the first `length` characters of a text, and `…` if there are more: a caller may send a text of any length.
 * Never cuts between the halves of a surrogate pair: such a text could not be sealed. Half a pair that the text itself
 * has becomes U+FFFD.
 */
export function shorten(text: string, length = 128): string {
  return text.length <= length ? text : `${firstOf(text, length)}…`
}

/**
 * Returns a text of at most `length` characters as it is, and of a longer one the first and last ones, with a note of
 * what is left out.
 */
export function shortenMiddle(text: string, length: number): { readonly text: string; readonly missing: number } {
  if (text.length <= length) return { text, missing: 0 }
  const half = Math.floor(length / 2)
  const missing = text.length - 2 * half
  return { text: `${firstOf(text, half)} [${missing} characters cut] ${lastOf(text, half)}`, missing }
}

/** Returns the last `length` characters of a text, or one less where that would cut a surrogate pair. */
export function lastOf(text: string, length: number): string {
  if (text.length <= length) return text
  const start = text.length - length
  return text.slice(isSecondHalf(text, start) ? start + 1 : start).toWellFormed()
}

function firstOf(text: string, length: number): string {
  return text.slice(0, isSecondHalf(text, length) ? length - 1 : length).toWellFormed()
}

/** Whether the character at a place is the second half of a surrogate pair. */
function isSecondHalf(text: string, place: number): boolean {
  return place > 0 && (text.codePointAt(place - 1) as number) > 0xffff
}
