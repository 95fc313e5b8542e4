/** Returns the message of an error, and that of its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message && !error.message.includes(cause.message)
    ? `${error.message} (${cause.message})`
    : error.message
}
