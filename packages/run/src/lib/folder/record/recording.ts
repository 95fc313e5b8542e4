import { secretVariables } from '../../base/secret-variables.ts'

/** What is kept of what a language model was sent and said: all of it, its answers alone, or neither. */
export const TRANSCRIPTS = ['full', 'answers', 'none'] as const

export interface Recording {
  readonly keep: (typeof TRANSCRIPTS)[number]
  redact(text: string): string
}

export const REDACTED = '[redacted]'

/**
 * Returns how a run records. The values of environment variables whose names contain KEY, TOKEN, SECRET or PASSWORD are
 * taken out if they have 16 characters or more, and so is what `expression` matches.
 *
 * @param names - further variables whose values are secrets.
 */
export function createRecording(
  keep: Recording['keep'] = 'full',
  expression: RegExp | null = null,
  names: readonly string[] = [],
): Recording {
  const secrets = secretVariables(names).flatMap(([, value]) => [value, inJson(value)])
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

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
