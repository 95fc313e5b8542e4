import type { Caller, Principal } from '../host/access/caller.ts'
import { equalSecrets } from '../host/access/session-tokens.ts'
import { ServerError } from '../server-error.ts'
import { createJwtVerifier, type JwtOptions } from './jwt.ts'

/** Which bearer tokens are valid, and the principal of each. Principals are one namespace for both endpoints. */
export interface AuthOptions {
  /** The operator's secret at the trainer endpoint, at least 22 characters. Default: a random one, made at start-up. */
  readonly controlToken?: string
  /**
   * Bearer token → principal, for the agent endpoint. A token has at least 22 characters. Default: none, so the agent
   * endpoint needs no token; an address other than loopback requires these or `jwt`.
   */
  readonly agentTokens?: Readonly<Record<string, string>>
  /** Bearer token → principal, for the trainer endpoint. Each principal sees its own sessions only. Default: none. */
  readonly controlTokens?: Readonly<Record<string, string>>
  /** JSON Web Tokens from an identity provider; their `sub` is the principal. Default: not accepted. */
  readonly jwt?: JwtOptions
}

export interface Identity {
  readonly principal: Principal
  readonly operator: boolean
}

/** The principal of the holder of the server's own control token. */
export const OPERATOR = 'control'

const OPERATOR_IDENTITY: Identity = { principal: OPERATOR, operator: true }

/** The characters of a bearer token (RFC 6750, section 2.1). */
const TOKEN = /^[\w.~+/=-]+$/

/** Throws `option-invalid` for tokens that could be guessed, or that belong to two principals. */
export function createCredentials(controlToken: string, options: Omit<AuthOptions, 'controlToken'>) {
  const { agentTokens = {}, controlTokens = {}, jwt } = options
  checkToken(controlToken, 'The control token')
  const tables = {
    agent: tableOf(agentTokens, 'A token of the agent endpoint'),
    trainer: [{ token: controlToken, identity: OPERATOR_IDENTITY }, ...tableOf(controlTokens, 'A control token')],
  }
  if (Object.hasOwn(controlTokens, controlToken))
    throw new ServerError('option-invalid', "A control token of a principal is the operator's own. Make another one.")
  const verify = jwt && createJwtVerifier(jwt)
  return {
    asksAgents: tables.agent.length > 0 || jwt?.audience.agent !== undefined,
    /**
     * Returns the owner of a token at an endpoint, or `null` if the token is not valid; synchronously for a token of
     * this server, because every call asks. Rejects if the issuer's keys cannot be fetched.
     */
    identify(endpoint: Caller['endpoint'], token: string): Identity | null | Promise<Identity | null> {
      const known = lookUp(tables[endpoint], token)
      if (known || !verify) return known
      return verify(endpoint, token).then((principal) => (principal === null ? null : { principal, operator: false }))
    },
  }
}

interface KnownToken {
  readonly token: string
  readonly identity: Identity
}

function tableOf(tokens: Readonly<Record<string, string>>, what: string): KnownToken[] {
  return Object.entries(tokens).map(([token, principal]) => {
    checkToken(token, what)
    if (principal === '') throw new ServerError('option-invalid', `${what} is given to a principal without a name.`)
    return { token, identity: { principal, operator: false } }
  })
}

/** Compares every token, so that the time taken reveals nothing about which one was similar. */
function lookUp(table: readonly KnownToken[], token: string): Identity | null {
  let found: Identity | null = null
  for (const known of table) if (equalSecrets(known.token, token)) found = known.identity
  return found
}

function checkToken(token: string, what: string): void {
  if (token.length < 22 || !TOKEN.test(token))
    throw new ServerError(
      'option-invalid',
      `${what} needs at least 22 characters, each a letter, a digit or one of "-._~+/=". Anything else could be guessed, or not be sent.`,
    )
}
