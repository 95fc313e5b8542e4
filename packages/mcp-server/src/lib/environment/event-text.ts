import type { RecordedEvent } from '@episodic/protocol'

/** Characters of what events say that one answer tells. */
const TOLD_CHARACTERS = 8_192

/**
 * Puts before an answer what outside events have said since the one before, oldest first. Of more than {@link
 * TOLD_CHARACTERS} the newest are told, and how many are not.
 */
export function prependEventTexts(events: readonly RecordedEvent[], answer: string): string {
  const said = events.flatMap((event) => event.said ?? [])
  let characters = 0
  let first = said.length
  while (first > 0 && characters + (said[first - 1] as string).length <= TOLD_CHARACTERS) {
    first -= 1
    characters += (said[first] as string).length
  }
  const untold = first === 0 ? [] : [`(Before this, ${first} more things were announced.)`]
  return [...untold, ...said.slice(first), answer].join('\n')
}
