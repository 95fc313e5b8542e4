import { StateError } from '../state-error.ts'

/** What a Redis address looks like in messages: where it leads, and nothing of who may go there. */
export function describeAddress(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
}

/** Says in the words of this package why the Redis at `address` could not do something. */
export function redisFault(address: string, cause: unknown): StateError {
  if (StateError.is(cause)) return cause
  const { message } = cause as Error
  // The one error of a command of ours that trying again does not mend: a key holds what we did not write.
  return message.startsWith('WRONGTYPE')
    ? new StateError(
        'store-invalid',
        `The Redis at ${address} holds something else under the names of this store (${message}). Give the store a prefix of its own.`,
        { cause },
      )
    : new StateError(
        'store-unavailable',
        `The Redis at ${address} cannot be used (${message}). See that it runs, may be written to and has room, and try again.`,
        { cause },
      )
}
