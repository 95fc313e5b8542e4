import { cleanText } from '../plots/clean-text.ts'

/** Breaks a text between words into lines of at most `width` characters, where no word is longer; its own lines stay apart. */
export function wrapText(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const wrapped: string[] = []
    for (const word of cleanText(line).trim().split(' ')) {
      const last = wrapped.at(-1)
      if (last !== undefined && last.length + 1 + word.length <= width) wrapped[wrapped.length - 1] = `${last} ${word}`
      else wrapped.push(word)
    }
    return wrapped
  })
}
