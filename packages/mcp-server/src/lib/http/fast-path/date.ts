let text = ''
let since = 0

/** The date of an answer, as RFC 9110 (section 6.6.1) asks for. Written once a second. */
export function httpDate(): string {
  const now = Date.now()
  // A clock may be set back.
  if (now < since || now >= since + 1_000) {
    text = new Date(now).toUTCString()
    since = now - (now % 1_000)
  }
  return text
}
