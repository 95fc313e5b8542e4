import type { z } from 'zod'
import { shorten } from './shorten.ts'

/** The most problems that are listed: there may be as many as the input has values. */
const MOST_PROBLEMS = 8

/**
 * Returns what a schema expected, in one line of bounded length that repeats nothing of the input. With `input`, names
 * a missing key as missing.
 */
export function formatZodError({ issues }: z.ZodError, input?: unknown): string {
  const listed = issues.slice(0, MOST_PROBLEMS).map(({ path, message }) => {
    if (path.length === 0) return message
    const name = path.join('.')
    if (!isMissing(input, path)) return `${name}: ${message}`
    // zod says "Invalid input: expected string, received undefined" of a missing key.
    return `${name} is missing: ${message.replace(/^Invalid \w+: /, '').replace(/, received undefined$/, '')}`
  })
  if (issues.length > MOST_PROBLEMS) listed.push(`and ${issues.length - MOST_PROBLEMS} more`)
  return shorten(listed.join('; '), 1_000)
}

/** Whether everything on the path exists but its last key. */
function isMissing(input: unknown, path: readonly PropertyKey[]): boolean {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return false
    if (!Object.hasOwn(value, key)) return true
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return false
}
