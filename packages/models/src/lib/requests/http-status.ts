/**
 * Names the HTTP status of an answer in the message of a failure; an empty text for `undefined`.
 *
 * @param isInside - whether the answer had status 200, and this status in its body.
 */
export function nameStatus(status: number | undefined, isInside = false): string {
  return status === undefined ? '' : ` (HTTP ${status}${isInside ? ' in the body of an HTTP 200' : ''})`
}

/**
 * Returns the HTTP status that the message of a failure names, also one from a sealed line; `null` if it names none.
 */
export function namedStatus(message: string): number | null {
  const [, status] = / \(HTTP (\d{3})(?: in the body of an HTTP 200)?\)/.exec(message) ?? []
  return status === undefined ? null : Number(status)
}
