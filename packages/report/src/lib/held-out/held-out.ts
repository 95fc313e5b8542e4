import { plural } from '../text/format.ts'

/** The tag of tasks that no model is to be trained on. It is in every sealed line of theirs. */
export const HELD_OUT = 'held-out'
/** What the tag with the canary of a data set begins with: a text that a model which was trained on it may repeat. */
export const CANARY = 'canary:'

/** Returns the canaries among the tags of tasks, each once. */
export function canariesIn(tags: Iterable<string>): string[] {
  return [...new Set([...tags].filter((tag) => tag.startsWith(CANARY)))].sort()
}

/** Returns how many episodes are of tasks that are held out, and their canaries, from the figures of tags. */
export function heldOutIn(tags: readonly { readonly name: string; readonly count: number; readonly failed: number }[]) {
  const counts = tags.map(({ name, count, failed }) => (name === HELD_OUT ? count + failed : 0))
  return { heldOut: counts.reduce((sum, one) => sum + one, 0), canaries: canariesIn(tags.map(({ name }) => name)) }
}

/** Says which tasks that are held out something holds, as a phrase. */
export function formatHeldOut({ heldOut, canaries }: ReturnType<typeof heldOutIn>): string {
  const known = canaries.join(', ')
  if (heldOut === 0) return known || 'none'
  return `${plural(heldOut, 'episode')} of tasks that are held out from training${known && ` (${known})`}`
}
