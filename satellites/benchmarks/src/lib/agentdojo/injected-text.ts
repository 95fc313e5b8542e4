const ESCAPES: Readonly<Record<string, string>> = {
  ...{ '0': '\0', a: '\x07', b: '\b', t: '\t', '\t': '\t', n: '\n', v: '\v', f: '\f', r: '\r', e: '\x1b', ' ': ' ' },
  ...{ '"': '"', '\\': '\\', '/': '/', N: '\x85', _: '\xa0', L: '\u2028', P: '\u2029' },
}
const CODES: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }
const BREAK = /\r\n|[\r\n\x85\u2028\u2029]/y
const BLANKS = /[ \t]*/y
const PLAIN = /[^"\\ \t\r\n\x85\u2028\u2029]+/y

/**
 * Reads a text in double quotes as PyYAML does. A text of others that was put between them is read in that way too: its
 * line breaks are folded. Throws where PyYAML does, such as for a quote within.
 */
export function readQuoted(written: string): string {
  let at = 1
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    const [found] = pattern.exec(written) ?? ['']
    at += found.length
    return found
  }
  const lineBreak = () => {
    const found = match(BREAK)
    return found === '' || found === '\u2028' || found === '\u2029' ? found : '\n'
  }
  const moreBreaks = () => {
    let breaks = ''
    for (;;) {
      if (/^(---|\.\.\.)([\s\0]|$)/.test(written.slice(at, at + 4))) throw unread(written, at)
      match(BLANKS)
      const found = lineBreak()
      if (found === '') return breaks
      breaks += found
    }
  }
  let text = ''
  for (;;) {
    const character = written.charAt(at)
    if (character === '"') {
      if (at === written.length - 1) return text
      throw unread(written, at)
    }
    if (character === '\\') {
      const named = written.charAt(at + 1)
      const width = CODES[named]
      at += 2
      if (width !== undefined) {
        const digits = written.slice(at, at + width)
        if (!/^[\da-fA-F]+$/.test(digits) || digits.length < width) throw unread(written, at)
        text += String.fromCodePoint(Number.parseInt(digits, 16))
        at += width
      } else if (ESCAPES[named] !== undefined) text += ESCAPES[named]
      else {
        at -= 1
        if (lineBreak() === '') throw unread(written, at)
        text += moreBreaks()
      }
    } else if (/[ \t\r\n\x85\u2028\u2029]/.test(character)) {
      const blanks = match(BLANKS)
      const first = lineBreak()
      if (first === '') text += blanks
      else {
        const more = moreBreaks()
        text += (first !== '\n' ? first : more === '' ? ' ' : '') + more
      }
    } else if (character === '') throw unread(written, at)
    else text += match(PLAIN)
  }
}

function unread(written: string, at: number): Error {
  return new Error(
    `An injected text makes the environment no YAML, here as in the original: ${written.slice(at, at + 40)}`,
  )
}
