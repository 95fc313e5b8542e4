import type { ChannelOptions, Target } from '../transport/target.ts'

/**
 * Options of a channel that shakes hands with its server, whichever era that speaks: a server may keep state by the session
 * of a client, such as the world that it plays, and has one in the era before 2026-07-28 alone.
 */
export function disconnectPreservingSessions(target: Target): Pick<ChannelOptions, 'eras'> {
  const url = typeof target === 'string' ? target : 'url' in target ? target.url : null
  return url === null ? {} : { eras: new Map([[url, 'legacy']]) }
}
