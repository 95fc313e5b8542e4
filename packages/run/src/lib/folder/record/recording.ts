/** What is kept of what a language model was sent and said: all of it, its answers alone, or neither. */
export const TRANSCRIPTS = ['full', 'answers', 'none'] as const

export interface Recording {
  readonly keep: (typeof TRANSCRIPTS)[number]
  redact(text: string): string
}

export const REDACTED = '[redacted]'

/**
 * Returns how a run records. The values of {@link secretVariables} are taken out, and so is what `expression` matches.
 *
 * @param names - further variables whose values are secrets.
 */
export function createRecording(
  keep: Recording['keep'] = 'full',
  expression: RegExp | null = null,
  names: readonly string[] = [],
): Recording {
  const secrets = secretVariables(names).flatMap(([, value]) => [value, JSON.stringify(value).slice(1, -1)])
  // A secret may contain another one.
  const longestFirst = [...new Set(secrets)].sort((a, b) => b.length - a.length)
  return {
    keep,
    redact(text) {
      const without = longestFirst.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)
      return expression ? without.replace(expression, REDACTED) : without
    },
  }
}

/** Minimum length of a secret: shorter values are placeholders, and would take ordinary words out. */
const SECRET_LENGTH = 16

/**
 * Returns the environment variables, with their values, whose names contain KEY, TOKEN, SECRET or PASSWORD, and those
 * of `names`, if they have 16 characters or more.
 */
export function secretVariables(names: readonly string[] = []): (readonly [name: string, value: string])[] {
  return Object.entries(process.env).flatMap(([name, value = '']) =>
    (/KEY|TOKEN|SECRET|PASSWORD/i.test(name) || names.includes(name)) && value.length >= SECRET_LENGTH
      ? [[name, value] as const]
      : [],
  )
}
