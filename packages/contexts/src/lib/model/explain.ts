import type { z } from 'zod'

/** Says what a schema expected, on one line of bounded length, without repeating what was given. */
export function explain({ issues }: z.ZodError): string {
  const told = issues
    .slice(0, 8)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
  return told.join('; ').slice(0, 1_000)
}
