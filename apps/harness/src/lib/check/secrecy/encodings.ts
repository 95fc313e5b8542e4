/** A secret in one of the forms in which it may be told. */
export interface Form {
  readonly name: string
  readonly text: string
  /** Whether upper and lower case are the same to whoever reads it. */
  readonly folded: boolean
}

/** The fewest characters of a form that do not turn up by chance. */
const LEAST = 8

/**
 * The forms of a secret that a text is searched for: as it is, as JSON escapes it, base64 at each of its three
 * alignments and in both alphabets, hexadecimal, percent-encoded, and backwards.
 */
export function formsOf(secret: string): Form[] {
  const bytes = Buffer.from(secret)
  const forms: Form[] = [
    { name: 'as it is', text: secret, folded: true },
    { name: 'JSON-escaped', text: JSON.stringify(secret).slice(1, -1), folded: true },
    { name: 'hexadecimal', text: bytes.toString('hex'), folded: true },
    { name: 'percent-encoded', text: encodeURIComponent(secret), folded: true },
    { name: 'percent-encoded', text: bytes.toString('hex').replace(/../g, '%$&'), folded: true },
    { name: 'backwards', text: [...secret].reverse().join(''), folded: true },
    ...[0, 1, 2].flatMap((offset) => base64At(bytes, offset)),
  ]
  const seen = new Set<string>()
  return forms.filter(({ text }) => text.length >= LEAST && !seen.has(text) && seen.add(text))
}

/** The characters of base64 that depend on the secret alone, where so many bytes stand before it. */
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

/** What is found of secrets in a text: whose, and in which form. */
export interface Sighting<Secret> {
  readonly secret: Secret
  readonly form: string
  readonly at: number
}

/** Finds secrets in everything that was received; `forms` are those of each, made once. */
export function findSecrets<Secret>(
  text: string,
  secrets: Iterable<readonly [Secret, readonly Form[]]>,
): Sighting<Secret>[] {
  const plain = unescaped(text)
  const lower = plain.toLowerCase()
  const found: Sighting<Secret>[] = []
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

/** JSON may spell any character by its number. */
function unescaped(text: string): string {
  return text.includes('\\u')
    ? text.replace(/\\u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    : text
}
