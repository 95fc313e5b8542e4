import { WireError } from '@episodic/protocol'
import { MAX_NESTING, MAX_VALUES } from '../environment/json-limits.ts'

/** Characters up to which a text is parsed at once: it cannot hold enough to take long. */
const SHORT = 4_096
/** What a message wraps around its parameters. */
const ENVELOPE = 8

/**
 * Parses the text of one message, once: what is checked afterwards is what is used, the last of equal keys.
 *
 * A long text is scanned first: parsing one that nests half a million deep blocks the process for a tenth of a second.
 * Throws `parse-error`, and `invalid-request` for a text that nests too deep or holds too many values.
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

/** Whether a text may take long to parse: it may hold thousands of values. */
export function isLong(text: string): boolean {
  return text.length > SHORT
}

/** Counts brackets and commas outside of strings. For a text that is not JSON, the result means nothing. */
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

/** Returns where the string that starts at `start` ends, or the end of the text if it does not. */
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
