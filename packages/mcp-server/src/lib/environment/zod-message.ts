import type { z } from 'zod'

/** How many problems are listed: there may be as many as the input has values. */
const EXPLAINED = 8

/** Says what a schema expected of `input`, on one line of bounded length, without repeating what was sent. */
export function explain({ issues }: z.ZodError, input?: unknown): string {
  const listed = issues.slice(0, EXPLAINED).map(({ path, message }) => {
    if (path.length === 0) return message
    const name = path.join('.')
    if (!isMissing(input, path)) return `${name}: ${message}`
    // What zod says of a value that is not there begins and ends with words that say so less plainly.
    return `${name} is missing: ${message.replace(/^Invalid \w+: /, '').replace(/, received undefined$/, '')}`
  })
  if (issues.length > EXPLAINED) listed.push(`and ${issues.length - EXPLAINED} more`)
  return shortened(listed.join('; '), 1_000)
}

/** Whether an object is where the path leads to, but for its last key. */
function isMissing(input: unknown, path: readonly PropertyKey[]): boolean {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return false
    if (!Object.hasOwn(value, key)) return true
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return false
}

/** The beginning of a text that a caller may have made as long as a message. */
export function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`
}
