import { StateError, storeInvalid } from '../state-error.ts'

/** Returns a Redis address for messages, without user and password. */
export function formatAddress(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
}

export function redisFault(address: string, cause: unknown): StateError {
  if (StateError.is(cause)) return cause
  const { message, command } = cause as Error & { readonly command?: { readonly name: string } }
  if (command?.name === 'select' && message.startsWith('ERR'))
    return storeInvalid(
      `The Redis at ${address} does not have that database (${message}). Give the number of one that it has: \`redis-cli config get databases\` shows how many there are.`,
      { cause },
    )
  // The only error of our commands that a retry does not fix: a key has a value that this store did not write.
  return message.startsWith('WRONGTYPE')
    ? storeInvalid(
        `The Redis at ${address} holds something else under the names of this store (${message}). Give the store a prefix of its own.`,
        { cause },
      )
    : new StateError(
        'store-unavailable',
        `The Redis at ${address} cannot be used (${message}). See that it runs, may be written to and has room, and try again.`,
        { cause },
      )
}
