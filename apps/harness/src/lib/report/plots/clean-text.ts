/** Takes out what would move a terminal's cursor or change its colors: names and messages come from outside. */
export function cleanText(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ')
}
