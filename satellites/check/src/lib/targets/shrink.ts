import type { Move } from '../rehearsed-episode.ts'

/** Most times that it is asked whether a hack holds. */
const ASKED = 200

/** Leaves out moves as long as `holds` (delta debugging: Zeller and Hildebrandt 2002). */
export async function shrink(moves: readonly Move[], holds: (moves: readonly Move[]) => Promise<boolean>) {
  let left = ASKED
  let best = moves
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < best.length; ) {
      const fewer = [...best.slice(0, from), ...best.slice(from + size)]
      if (left-- > 0 && (await holds(fewer))) best = fewer
      else from += size
    }
  return best
}
