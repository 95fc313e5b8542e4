import type { Channel } from './mcp.ts'

const typed = new WeakSet<Channel>()

/**
 * Marks a channel whose results are values of the types of this package, made by code of this process and held by
 * nobody else, and returns it. Its clients read results without parsing them. A wrapper around it is not marked,
 * because it may change what it hands on.
 */
export function markTyped<C extends Channel>(channel: C): C {
  typed.add(channel)
  return channel
}

/** Returns whether a channel is marked by {@link markTyped} of this very copy of the package, and so has its types. */
export function isTyped(channel: Channel): boolean {
  return typed.has(channel)
}
