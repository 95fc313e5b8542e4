/** Returns a word of a shell that means a text. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
