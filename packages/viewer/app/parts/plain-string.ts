import { textParts } from './signs.ts'

/** A text as `PlainText` shows it, for places that take no markup, such as drawings. */
export function plainString(text: string): string {
  return textParts(text)
    .map((part) => (typeof part === 'string' ? part : part.sign))
    .join('')
}
