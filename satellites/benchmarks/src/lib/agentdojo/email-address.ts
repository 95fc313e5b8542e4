/** Names that no mail reaches. */
const RESERVED = /(^|\.)(arpa|invalid|local|localhost|onion|test)$/i

/**
 * Reads an email address as pydantic and `email_validator` do: the address alone, its domain in small letters; or says
 * what is wrong with it. Very long parts, and domains of other scripts, are not looked at.
 */
export function readEmailAddress(text: string): { readonly address: string } | { readonly wrong: string } {
  const bare = (/^\s*(?:[^<>]*?)\s*<(.+)>\s*$/.exec(text)?.[1] ?? text).replace(/^ +| +$/g, '')
  if (/[\r\n]/.test(bare)) return { wrong: 'Carriage return and line feed characters are not allowed' }
  const at = bare.indexOf('@')
  if (at < 0) return { wrong: 'An email address must have an @-sign.' }
  const [name, domain] = [bare.slice(0, at), bare.slice(at + 1)]
  const wrong = wrongName(name) ?? wrongDomain(domain)
  return wrong === null ? { address: `${name}@${domain.toLowerCase()}` } : { wrong }
}

function wrongName(name: string): string | null {
  if (name === '') return 'There must be something before the @-sign.'
  if (/^".*"$/.test(name)) return 'Quoting the part before the @-sign is not allowed here.'
  const invalid = charactersIn(name, /[^\w!#$%&'*+\-/=?^`{|}~.\u0080-\uffff]/g)
  if (invalid) return `The email address contains invalid characters before the @-sign: ${invalid}.`
  if (name.startsWith('.')) return 'An email address cannot start with a period.'
  if (name.endsWith('.')) return 'An email address cannot have a period immediately before the @-sign.'
  return name.includes('..') ? 'An email address cannot have two periods in a row.' : null
}

function wrongDomain(domain: string): string | null {
  const after = 'The part after the @-sign'
  if (domain === '') return 'There must be something after the @-sign.'
  if (/^\[.*\]$/.test(domain)) return 'A bracketed IP address after the @-sign is not allowed here.'
  const invalid = charactersIn(domain, /[^a-zA-Z\d.\-\u0080-\uffff]/g)
  if (invalid) return `${after} contains invalid characters: ${invalid}.`
  if (domain.startsWith('.')) return 'An email address cannot have a period immediately after the @-sign.'
  if (domain.startsWith('-')) return 'An email address cannot have a hyphen immediately after the @-sign.'
  if (domain.endsWith('.')) return 'An email address cannot end with a period.'
  if (domain.endsWith('-')) return 'An email address cannot end with a hyphen.'
  if (domain.includes('..')) return 'An email address cannot have two periods in a row.'
  if (/\.-|-\./.test(domain)) return 'An email address cannot have a period and a hyphen next to each other.'
  if (!domain.includes('.')) return `${after} is not valid. It should have a period.`
  if (!/[a-zA-Z\u0080-\uffff]$/.test(domain)) return `${after} is not valid. It is not within a valid top-level domain.`
  return RESERVED.test(domain) ? `${after} is a special-use or reserved name that cannot be used with email.` : null
}

/** Lists characters once, as the original does: in the order of their codes. */
function charactersIn(text: string, pattern: RegExp): string {
  const found = [...new Set(text.match(pattern))].sort()
  return found
    .map((character) => (character === ' ' ? 'SPACE' : `'${character}'`))
    .sort()
    .join(', ')
}
