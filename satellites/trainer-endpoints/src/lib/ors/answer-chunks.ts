/** Characters of one event, as OpenReward's own server sends. Its client refuses a line of more than 128 KiB. */
const CHUNK_LENGTH = 4_096

/**
 * Splits the JSON text of an answer into the data of its events, which a client joins before it parses them.
 *
 * The clients strip every space that a line of data starts with, not only the one after the colon. A chunk therefore
 * never starts with white space: inside a JSON string, the only place where compact JSON has any, it is escaped.
 */
export function chunksOf(json: string): string[] {
  const chunks: string[] = []
  for (let start = 0; start < json.length; ) {
    const end = boundaryBefore(json, start + CHUNK_LENGTH)
    chunks.push(json.slice(start, end).replace(LEADING_SPACE, escapeCharacter))
    start = end
  }
  return chunks
}

/** What Python's `str.lstrip` removes, except control characters, which JSON escapes. */
const LEADING_SPACE = /^[\s\u0085]/

/** Returns the place, or the one before it if a surrogate pair would be split. */
function boundaryBefore(text: string, place: number): number {
  if (place >= text.length) return text.length
  return /[\uD800-\uDBFF]/.test(text.charAt(place - 1)) ? place - 1 : place
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
