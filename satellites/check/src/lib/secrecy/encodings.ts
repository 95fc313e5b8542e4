export interface Form {
  readonly name: string
  readonly text: string
  readonly folded: boolean
}

/** The fewest characters of a form that does not occur by chance in all that a player reads. */
const LEAST = 8

/**
 * The forms of a secret to search for: plain, JSON-escaped, base64 at each of its three alignments and in both
 * alphabets, hexadecimal, percent-encoded, and reversed.
 */
export function formsOf(secret: string, least = LEAST): Form[] {
  const bytes = Buffer.from(secret)
  const forms: Form[] = [
    { name: 'plain', text: secret, folded: true },
    { name: 'JSON-escaped', text: JSON.stringify(secret).slice(1, -1), folded: true },
    { name: 'hexadecimal', text: bytes.toString('hex'), folded: true },
    { name: 'percent-encoded', text: encodeURIComponent(secret), folded: true },
    { name: 'percent-encoded', text: bytes.toString('hex').replace(/../g, '%$&'), folded: true },
    { name: 'reversed', text: [...secret].reverse().join(''), folded: true },
    ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset)),
  ]
  const seen = new Set<string>()
  return forms.filter(({ text }) => text.length >= least && !seen.has(text) && seen.add(text))
}

/** The characters of base64 that depend on the secret alone if it follows `offset` other bytes. */
function base64At(bytes: Buffer, offset: number): Form[] {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  const start = Math.ceil((offset * 8) / 6)
  const end = Math.floor(((offset + bytes.length) * 8) / 6)
  const stable = text.slice(start, end)
  return [stable, stable.replaceAll('+', '-').replaceAll('/', '_')].map((form) => ({
    name: 'base64',
    text: form,
    folded: false,
  }))
}

export interface SecretMatch<Secret> {
  readonly secret: Secret
  readonly form: string
  readonly at: number
}

/** Finds secrets in a text, each with its {@link formsOf}; at most one match of each. */
export function findSecrets<Secret>(
  text: string,
  secrets: Iterable<readonly [Secret, readonly Form[]]>,
): SecretMatch<Secret>[] {
  const plain = unescaped(text)
  const lower = plain.toLowerCase()
  const found: SecretMatch<Secret>[] = []
  for (const [secret, forms] of secrets) {
    for (const form of forms) {
      const at = form.folded ? lower.indexOf(form.text.toLowerCase()) : plain.indexOf(form.text)
      if (at < 0) continue
      found.push({ secret, form: form.name, at })
      break
    }
  }
  return found
}

function unescaped(text: string): string {
  return text.includes('\\u')
    ? text.replace(/\\u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    : text
}
