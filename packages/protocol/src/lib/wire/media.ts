/**
 * Returns base64 as the standard writes it: of a `data:` URL, of lines of it, of its form for URLs, and of one without
 * its padding. Returns `null` for a text that is none.
 */
export function readBase64(text: string): string | null {
  if (STANDARD.test(text) && text.length % 4 === 0) return text
  const plain = text
    .replace(/^data:[^,]{0,200};base64,/i, '')
    .replace(/\s+/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '')
  if (!STANDARD.test(plain) || plain.endsWith('=') || plain.length % 4 === 1) return null
  return plain.padEnd(Math.ceil(plain.length / 4) * 4, '=')
}

const STANDARD = /^[A-Za-z0-9+/]*={0,2}$/

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE))
  return btoa(text)
}

/** Arguments of one call. */
const PIECE = 8_192

/** The first characters of base64, by the type of what it holds. */
const TYPES: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD/, 'image/gif'],
  [/^UklGR.{6}XRUJQ/, 'image/webp'],
  [/^UklGR.{6}XQVZF/, 'audio/wav'],
  [/^(SUQz|\/\/[I-Po-v])/, 'audio/mpeg'],
]

/** Returns the media type of a picture or a sound from how its base64 begins; `null` for one that is not known. */
export function mediaTypeOf(base64: string): string | null {
  return TYPES.find(([beginning]) => beginning.test(base64))?.[1] ?? null
}
