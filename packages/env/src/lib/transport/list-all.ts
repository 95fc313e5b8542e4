import { listAll as listPages } from '@episodic/mcp-client'
import { asOurs } from './open-channel.ts'

/** Returns the items of a list on all of its pages. Rejects with `reply-malformed` for more than 100 pages. */
export function listAll(...args: Parameters<typeof listPages>): ReturnType<typeof listPages> {
  return asOurs(listPages(...args))
}
