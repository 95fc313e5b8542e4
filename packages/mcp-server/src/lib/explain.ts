import type { z } from 'zod'

/** How many problems are told of what was sent: they may be as many as it has values. */
const EXPLAINED = 8

/** Says what a schema expected, on one line of bounded length, without repeating what was sent. */
export function explain({ issues }: z.ZodError): string {
  const told = issues
    .slice(0, EXPLAINED)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
  if (issues.length > EXPLAINED) told.push(`and ${issues.length - EXPLAINED} more`)
  return shortened(told.join('; '), 1_000)
}

/** The beginning of a text that a caller may have made as long as a message. */
export function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`
}
