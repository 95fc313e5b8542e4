import { isDeepStrictEqual } from 'node:util'
import type { ModelRequest } from '@episodic/protocol'

/**
 * Returns how many messages two requests begin with alike; 0 if their tools differ. A conversation goes on from the
 * last request nearly always, so what is known of that need not be worked out or written again.
 */
export function countShared(one: ModelRequest, other: ModelRequest): number {
  if (!isDeepStrictEqual(one.tools, other.tools)) return 0
  const differing = one.messages.findIndex((message, i) => !isDeepStrictEqual(message, other.messages[i]))
  return differing < 0 ? one.messages.length : differing
}
