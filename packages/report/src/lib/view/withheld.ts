export const WITHHELD_PARTS = ['seeds', 'params', 'prompts', 'private'] as const
export type WithheldPart = (typeof WITHHELD_PARTS)[number]

/**
 * Returns what was withheld from a line of a shared file; nothing for a line as it was sealed. Such a line matches
 * neither its chain nor its seal, and cannot be replayed.
 */
export function withheldIn(line: object): readonly string[] {
  return 'withheld' in line && Array.isArray(line.withheld) ? line.withheld.map(String) : []
}
