import type { HttpTarget, Target } from '@episodic/env'

/** Minimum length of a part of a secret that is searched for: a shorter value may be an ordinary word. */
const PART_LENGTH = 8

/**
 * Returns the environment variables for a program that plays: all but those of Episodic itself, such as its tokens and
 * session URLs, and all but those that hold one of the `secrets`, or a part of one, under whatever name. Others, such
 * as the key of the program's own language model, are passed on.
 *
 * This is the only place that decides what a child process that plays, or in which agents play, inherits.
 *
 * @param secrets - what the command was given beside its environment, see {@link secretsOf}.
 */
export function playerEnvironment(
  secrets: readonly string[] = [],
  environment: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const known = [...secrets, ...ownSecrets(environment)]
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name, value = '']) => !isOwn(name) && !known.some((secret) => overlaps(value, secret)),
    ),
  )
}

/** Windows compares their names without case. */
function isOwn(name: string): boolean {
  return /^EPISODIC_/i.test(name)
}

function ownSecrets(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    value && isOwn(name) && /TOKEN|SECRET|PASSWORD|URL/i.test(name) ? [value] : [],
  )
}

/** Whether a value is a secret, contains one, or is a part of one, such as the token in a header. */
function overlaps(value: string, secret: string): boolean {
  if (value === secret) return true
  return (
    (secret.length >= PART_LENGTH && value.includes(secret)) || (value.length >= PART_LENGTH && secret.includes(value))
  )
}

/** Returns the secrets with which a command reaches its server and its queue: tokens, headers and passwords. */
export function secretsOf(target: Target | null, queue?: string): string[] {
  const server = (typeof target === 'string' ? { url: target } : { ...target }) as Partial<HttpTarget>
  const { url, token, headers = {} } = server
  const given = [token ?? '', ...Object.values(headers), ...[url, queue].flatMap(passwordsOf)]
  return given.filter((secret) => secret !== '')
}

function passwordsOf(address: string | undefined): string[] {
  const password = address && URL.canParse(address) ? new URL(address).password : ''
  return [password, decoded(password)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
