/** Bytes of a text in UTF-8, as which stores keep it. */
export function byteLength(text: string): number {
  return encoder.encode(text).length
}
const encoder = new TextEncoder()
