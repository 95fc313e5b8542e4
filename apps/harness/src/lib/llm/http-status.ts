/** Names the HTTP status of an answer in the message of a failure; an empty text for `undefined`. */
export function nameStatus(status: number | undefined): string {
  return status === undefined ? '' : ` (HTTP ${status})`
}

/** Returns the HTTP status that the message of a failure names, also one from a sealed line; `null` if it names none. */
export function namedStatus(message: string): number | null {
  const [, status] = / \(HTTP (\d{3})\)/.exec(message) ?? []
  return status === undefined ? null : Number(status)
}
