import type { Json, JsonObject, ModelRequest } from '@episodic/protocol'

/**
 * Returns how many messages two requests begin with alike; 0 if their tools differ. A conversation goes on from the
 * last request nearly always, so what is known of that need not be worked out or written again.
 */
export function countShared(one: ModelRequest, other: ModelRequest): number {
  if (!isSame(one.tools as Json, other.tools as Json)) return 0
  const differing = one.messages.findIndex((message, i) => !isSame(message, other.messages[i]))
  return differing < 0 ? one.messages.length : differing
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) || Array.isArray(other))
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, i) => isSame(item, other[i]))
    )
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => name in other && isSame((one as JsonObject)[name], (other as JsonObject)[name]))
  )
}
