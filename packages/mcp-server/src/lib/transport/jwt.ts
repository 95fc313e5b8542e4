import { createHash } from 'node:crypto'
import type { JsonObject } from '@episodic/protocol'
import { systemClock } from '@episodic/state'
import type { JSONWebKeySet } from 'jose'
import type { Caller } from '../host/access/caller.ts'
import { ServerError } from '../server-error.ts'

/** JSON Web Tokens of one issuer (RFC 7519, RFC 8725). */
export interface JwtOptions {
  /** The exact value of `iss`. */
  readonly issuer: string
  /** What `aud` has to include, for each endpoint. The two differ, or an agent's token would be a trainer's. */
  readonly audience: { readonly agent?: string; readonly trainer?: string }
  /** The issuer's public keys: a set, or the URL of one (https, or http on this machine). */
  readonly jwks: URL | { readonly keys: readonly JsonObject[] }
}

/** Only signatures by key pairs: with a shared secret, anyone who can verify a token could issue one. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** How far the issuer's clock may be off, in seconds. */
const TOLERANCE = 5
/** How long a valid token is not verified again, in milliseconds. A revoked key stays accepted for that long. */
const REMEMBERED_MILLISECONDS = 30_000
/** How many valid tokens are remembered. When there are more, all are forgotten and verified again. */
const REMEMBERED = 4_096

/** Returns what resolves with a token's principal, `null` for an invalid one. Rejects without the issuer's keys. */
export function createJwtVerifier({ issuer, audience, jwks }: JwtOptions) {
  if (audience.agent !== undefined && audience.agent === audience.trainer)
    throw invalid('Both endpoints have the same JWT audience, so an agent could come in as its trainer. Name two.')
  if (audience.agent === undefined && audience.trainer === undefined)
    throw invalid('JWTs need an audience, for at least one of the endpoints.')
  if (issuer === '') throw invalid('JWTs need an issuer.')
  if (jwks instanceof URL) assertSafe(jwks)
  else assertKeySet(jwks)
  // Loaded for the first token: most servers accept none of these, and start without it.
  let loading: ReturnType<typeof load> | undefined
  const remembered = new Map<string, { readonly principal: string; readonly until: number }>()
  return async (endpoint: Caller['endpoint'], token: string): Promise<string | null> => {
    const wanted = audience[endpoint]
    if (wanted === undefined || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return null
    // Under a digest, so that no heap snapshot contains the token.
    const name = `${endpoint} ${createHash('sha256').update(token).digest('base64')}`
    const known = remembered.get(name)
    if (known && known.until > systemClock.now()) return known.principal
    loading ??= load(jwks)
    const { jwtVerify, errors, keys } = await loading
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: wanted,
        algorithms: ALGORITHMS,
        clockTolerance: TOLERANCE,
        requiredClaims: ['sub', 'exp'],
      })
      const { sub: principal, exp } = payload as { sub: unknown; exp: number }
      if (typeof principal !== 'string' || principal.length < 1 || principal.length > 256) return null
      if (remembered.size >= REMEMBERED) remembered.clear()
      const until = Math.min(systemClock.now() + REMEMBERED_MILLISECONDS, exp * 1_000)
      remembered.set(name, { principal, until })
      return principal
    } catch (cause) {
      if (isTheirs(cause, errors)) return null
      throw cause
    }
  }
}

async function load(jwks: JwtOptions['jwks']) {
  const { createLocalJWKSet, createRemoteJWKSet, errors, jwtVerify } = await import('jose')
  const keys = jwks instanceof URL ? createRemoteJWKSet(jwks) : createLocalJWKSet(jwks as unknown as JSONWebKeySet)
  return { jwtVerify, errors, keys }
}

/** Whether the token is at fault, and not the fetching of the keys. */
function isTheirs(cause: unknown, errors: Awaited<ReturnType<typeof load>>['errors']): boolean {
  return (
    cause instanceof errors.JOSEError &&
    !(cause instanceof errors.JWKSTimeout) &&
    !(cause instanceof errors.JWKSInvalid) &&
    cause.code !== 'ERR_JOSE_GENERIC'
  )
}

function assertSafe(url: URL): void {
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.hostname)))
    throw invalid(`${url.href} is not a safe place for keys: name an https URL, or one of this machine.`)
}
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

function assertKeySet({ keys }: { readonly keys: readonly JsonObject[] }): void {
  const isKey = (key: unknown) => typeof key === 'object' && key !== null && !Array.isArray(key)
  if (!Array.isArray(keys) || !keys.every(isKey)) throw invalid('The keys that were given are not a JSON Web Key Set.')
}

function invalid(message: string): ServerError {
  return new ServerError('option-invalid', message)
}
