import { isUtf8 } from 'node:buffer'

/**
 * Texts that carry any bytes, as in Python's `surrogateescape`: a byte that is not a part of UTF-8 is the lone
 * surrogate U+DC00 plus itself. The shell and its commands turn bytes into texts and back; in between, none is lost.
 */
const [Decoder, Encoder] = [TextDecoder, TextEncoder]
const strict = new Decoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new Encoder()

const ESCAPE = 0xdc00

export function decodeBytes(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return strict.decode(bytes)
  let text = ''
  let from = 0
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    const isPart = byte < 0x80 || (at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)))
    if (!isPart) {
      text += strict.decode(bytes.subarray(from, at)) + String.fromCharCode(ESCAPE + byte)
      from = at + 1
    }
    at += isPart ? length : 1
  }
  return text + strict.decode(bytes.subarray(from))
}

export function encodeText(text: string): Uint8Array {
  if (text.isWellFormed()) return encoder.encode(text)
  const parts: Uint8Array[] = []
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    const isPaired = unit >= 0xd800 && unit < ESCAPE && (text.charCodeAt(at + 1) & 0xfc00) === ESCAPE
    if (isPaired) at += 1
    else if (unit >= ESCAPE + 0x80 && unit <= ESCAPE + 0xff) {
      parts.push(encoder.encode(text.slice(from, at)), Uint8Array.of(unit - ESCAPE))
      from = at + 1
    }
  }
  return Buffer.concat([...parts, encoder.encode(text.slice(from))])
}

/**
 * Makes this thread decode and encode UTF-8 as above, for good. Call it in a thread of its own, before the shell is
 * loaded, because it keeps a decoder and an encoder.
 */
export function installByteText(): void {
  class ByteDecoder extends Decoder {
    override decode(...given: Parameters<typeof strict.decode>): string {
      const [input, options] = given
      if (this.encoding !== 'utf-8' || options?.stream || !input) return super.decode(...given)
      const bytes = ArrayBuffer.isView(input)
        ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
        : new Uint8Array(input)
      return isUtf8(bytes) ? super.decode(bytes) : decodeBytes(bytes)
    }
  }
  class ByteEncoder extends Encoder {
    override encode(text = '') {
      return encodeText(text) as ReturnType<typeof encoder.encode>
    }
  }
  globalThis.TextDecoder = ByteDecoder
  globalThis.TextEncoder = ByteEncoder
}
