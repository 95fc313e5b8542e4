const TOKEN = /\s+|(\d+(?:\.\d+)?)|([a-z]\w*)|([-+*/%^()])|(.)/gi

/** The numbers, names and signs of a text. */
export function tokensOf(text) {
  const tokens = []
  for (const [, number, name, sign, other] of text.matchAll(TOKEN)) {
    if (other !== undefined) throw new SyntaxError(`cannot read: ${other}`)
    if (number !== undefined) tokens.push({ kind: 'number', value: Number(number) })
    if (name !== undefined) tokens.push({ kind: 'name', value: name })
    if (sign !== undefined) tokens.push({ kind: 'sign', value: sign })
  }
  return tokens
}
