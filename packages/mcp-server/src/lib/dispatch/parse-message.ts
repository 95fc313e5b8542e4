import { WireError } from '@episodic/protocol'
import { MAX_NESTING, MAX_VALUES } from '../environment/json-limits.ts'

/** A shorter text cannot hold enough to keep anybody waiting. */
const SHORT = 4_096
/** What a message wraps around its parameters. */
const ENVELOPE = 8

/**
 * Parses the text of one message, once: what is checked afterwards is what is used, the last of equal keys.
 *
 * A long text is looked over first, because to parse one that nests half a million deep takes a tenth of a second in
 * which nobody else is answered. Throws `parse-error`, and `invalid-request` for what nests too deep or holds too much.
 */
export function parseMessage(text: string): unknown {
  const problem = isLong(text) ? findExcess(text) : null
  if (problem !== null) throw new WireError('invalid-request', `The message ${problem}. Send less at once.`)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new WireError('parse-error', 'The message is not JSON.', { cause })
  }
}

/** Whether a message may take a while: thousands of values may be in it. */
export function isLong(text: string): boolean {
  return text.length > SHORT
}

/** Counts brackets and commas outside of strings. Of text that is not JSON it may say anything. */
function findExcess(text: string): string | null {
  let depth = 0
  let values = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
        break
      case OPEN_BRACKET:
      case OPEN_BRACE:
        values += 1
        depth += 1
        if (depth > MAX_NESTING + ENVELOPE) return `nests more than ${MAX_NESTING} deep`
        break
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1
        break
      case COMMA:
        values += 1
    }
    if (values > MAX_VALUES + ENVELOPE) return `holds more than ${MAX_VALUES} values`
  }
  return null
}

/** Where the string that starts at `start` ends; the end of the text where it does not. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at += 1
  }
  return text.length
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c]
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d]
