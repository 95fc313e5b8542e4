import type { Json, JsonObject } from '@episodic/protocol'
import type { Move } from '../rehearsed-episode.ts'

/**
 * Leaves out moves, and then makes texts and lists shorter, as long as `holds` (delta debugging: Zeller and Hildebrandt
 * 2002). Asks at most `most` times.
 */
export async function shrink(
  moves: readonly Move[],
  holds: (moves: readonly Move[]) => Promise<boolean>,
  most = 200,
): Promise<readonly Move[]> {
  let left = most
  let best = moves
  const attempt = async (fewer: readonly Move[]) => {
    if (left-- <= 0 || !(await holds(fewer))) return false
    best = fewer
    return true
  }
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let from = 0; from < best.length; )
      if (!(await attempt([...best.slice(0, from), ...best.slice(from + size)]))) from += size
  for (let at = 0; at < best.length; at++)
    for (const [name, value] of Object.entries((best[at] as Move).action.arguments))
      for (const smaller of smallerThan(value as Json)) if (await attempt(withArgument(best, at, name, smaller))) break
  return best
}

function withArgument(moves: readonly Move[], at: number, name: string, value: Json): readonly Move[] {
  const { seat, action } = moves[at] as Move
  const args: JsonObject = { ...action.arguments, [name]: value }
  return moves.with(at, { seat, action: { ...action, arguments: args } })
}

function smallerThan(value: Json): Json[] {
  if (typeof value === 'string' && value.length > 40)
    return ['', value.slice(0, value.length / 2), value.slice(value.length / 2)]
  if (Array.isArray(value) && value.length > 1) return [[], value.slice(0, 1)]
  return []
}
