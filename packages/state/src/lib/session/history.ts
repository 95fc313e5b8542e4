import type { JsonObject } from '@episodic/protocol'

/** What a session remembers of its own past, oldest first. Part of the record, so bounded in number and in size. */
export type History = readonly JsonObject[]

/**
 * How much is remembered: at most `entries` of them and at most `bytes` of their JSON, in UTF-16 code units; or
 * `calls`: every call of the episode, so as many as it has steps.
 */
export type HistoryBounds = 'calls' | { readonly entries: number; readonly bytes: number }

/**
 * Returns the history with `entry` added at its end and as many of the oldest dropped as the bounds want.
 *
 * An entry that alone passes `bytes` is not kept, and neither is anything older than it: a gap in the middle would
 * read as if it had never been.
 */
export function appendHistory(history: History, entry: JsonObject, bounds: HistoryBounds): History {
  const next = [...history, entry]
  if (bounds === 'calls') return next
  let bytes = 0
  let first = next.length
  while (first > 0 && next.length - first < bounds.entries) {
    bytes += JSON.stringify(next[first - 1]).length
    if (bytes > bounds.bytes) break
    first -= 1
  }
  return next.slice(first)
}
