/** The beginning of a name that a caller may have made as long as a message. */
export function shortened(text: string): string {
  return text.length <= 128 ? text : `${text.slice(0, 128).toWellFormed()}…`
}
