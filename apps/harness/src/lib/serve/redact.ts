/** What secrets of a server look like: handles and capabilities, JSON Web Tokens, and whatever is sent as a bearer token. */
const SHAPES: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b(ctl|cap|mcp)_[\w.-]{22,}/g, '$1_[hidden]'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[hidden]'],
  [/\b(bearer) +[\w.~+/=-]+/gi, '$1 [hidden]'],
]

/** Hides secrets in a text: those that are known, and whatever looks like one. */
export function redact(text: string, known: Iterable<string> = []): string {
  for (const secret of known) text = text.replaceAll(secret, '[hidden]')
  for (const [pattern, replacement] of SHAPES) text = text.replace(pattern, replacement)
  return text
}
