/** A stretch of text as it is, or one character that would not be seen, with a sign that stands for it. */
export type TextPart = string | { readonly sign: string }

/**
 * Characters that cannot be seen, or that change how others are seen: controls but line breaks and tabs, marks of
 * direction, invisible separators, and the tags and selectors in which texts can be hidden. The joiners U+200C and
 * U+200D stay after letters of scripts that need them, and in emoji.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e0fff}]|(?<!(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\u200c\u200d]/gu

/** Splits a text into what can be shown as it is and signs: ␛ for escape, U+202E for others. */
export function textParts(text: string): TextPart[] {
  const parts: TextPart[] = []
  let from = 0
  for (const { 0: character, index } of text.matchAll(UNSEEN)) {
    // A line break of two characters is shown as one.
    if (character === '\r' && text[index + 1] === '\n') {
      if (index > from) parts.push(text.slice(from, index))
      from = index + 1
      continue
    }
    if (index > from) parts.push(text.slice(from, index))
    parts.push({ sign: signOf(character.codePointAt(0) as number) })
    from = index + character.length
  }
  if (from < text.length) parts.push(text.slice(from))
  return parts
}

/** Whether a text has to be split: most need not be. */
export function hasSigns(text: string): boolean {
  return text.search(UNSEEN) >= 0
}

function signOf(code: number): string {
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return '␡'
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}

/** A text as `plain` shows it, for places that take no markup, such as drawings. */
export function plainString(text: string): string {
  return textParts(text)
    .map((part) => (typeof part === 'string' ? part : part.sign))
    .join('')
}
