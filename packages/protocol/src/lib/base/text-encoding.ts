/**
 * Returns in which encoding a text seems to be, by its bytes: `UTF-8`, `UTF-16` by its mark or its zeros, and
 * `WINDOWS-1252`, which contains Latin-1, for everything else. Each is a name that `iconv` knows.
 */
export function encodingOf(bytes: Uint8Array): 'UTF-8' | 'UTF-16' | 'WINDOWS-1252' {
  const [first, second] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return 'UTF-16'
  // A text of JSON begins with a letter that one byte holds.
  if (bytes.length > 1 && (first === 0 || second === 0)) return 'UTF-16'
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return 'UTF-8'
  } catch {
    return 'WINDOWS-1252'
  }
}
