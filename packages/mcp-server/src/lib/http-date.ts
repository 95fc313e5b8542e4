let text = ''
let until = 0

/** The date of an answer, as RFC 9110 (section 6.6.1) asks for. Written once a second. */
export function httpDate(): string {
  const now = Date.now()
  if (now >= until) {
    text = new Date(now).toUTCString()
    until = now - (now % 1_000) + 1_000
  }
  return text
}
