/** Splits a text at the occurrences of another one, in upper or lower case: every second part is one. */
export function splitByMatches(text: string, wanted: string): string[] {
  if (wanted === '') return [text]
  return text.split(new RegExp(`(${escapeExpression(wanted)})`, 'giu'))
}

export function countMatches(texts: readonly string[], wanted: string): number {
  if (wanted === '') return 0
  return texts.reduce((sum, text) => sum + (splitByMatches(text, wanted).length - 1) / 2, 0)
}

function escapeExpression(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, (character) => (character === '-' ? '\\x2d' : `\\${character}`))
}
