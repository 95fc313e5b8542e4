import { abortable } from '@episodic/protocol/internal'
import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { McpError, reasonOf, sentence } from '../mcp-error.ts'
import type { Authorizer, Refused } from './authorized.ts'
import type { OAuthProvider } from './sdk-provider.ts'

/** Milliseconds until a request to an authorization server fails. */
const REQUEST_TIMEOUT = 30_000

const underway = new WeakMap<OAuthProvider, Promise<void>>()

export function createAuthorizer(serverUrl: string, provider: OAuthProvider): Authorizer {
  /** The scope that was asked for, so that a wider request includes it. */
  let requested: string | undefined
  const headers = async (): Promise<Readonly<Record<string, string>>> => {
    const tokens = await provider.tokens()
    return tokens ? { authorization: `Bearer ${tokens.access_token}` } : {}
  }
  const logIn = async ({ status, challenge }: Refused): Promise<void> => {
    const answer = new Response(null, { status, headers: { 'www-authenticate': challenge } })
    const { resourceMetadataUrl, scope: asked } = extractWWWAuthenticateParams(answer)
    // A refresh cannot widen a scope.
    const isWider = status === 403
    const granted = isWider ? (await provider.tokens())?.scope : undefined
    const scope = computeScopeUnion(isWider ? requested : undefined, granted, asked)
    // The server may name another authorization server than before.
    await provider.invalidateCredentials?.('discovery')
    const result = await auth(provider, {
      serverUrl,
      fetchFn: fetchInTime,
      forceReauthorization: isWider,
      ...(scope && { scope }),
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
    })
    requested = scope
    if (result !== 'AUTHORIZED') throw new Error('its user has to agree first, at the page that the provider was given')
  }
  return {
    headers,
    async renew(refused, signal) {
      // Another request may have logged in meanwhile.
      if ((await headers()).authorization !== refused.headers.authorization) return
      let login = underway.get(provider)
      if (!login) {
        login = logIn(refused).finally(() => underway.delete(provider))
        underway.set(provider, login)
      }
      try {
        await abortable(login, signal)
      } catch (cause) {
        signal?.throwIfAborted()
        throw loginFailed(serverUrl, refused.status, cause)
      }
    },
  }
}

/**
 * Exchanges what a redirect brought for tokens, which the provider stores: the code, or all parameters of the redirect,
 * whose issuer is checked first (RFC 9207). Rejects with `login-failed`.
 */
export async function finishAuthorization(
  serverUrl: string,
  provider: OAuthProvider,
  redirected: string | URLSearchParams,
): Promise<void> {
  const transport = new StreamableHTTPClientTransport(new URL(serverUrl), {
    authProvider: provider,
    fetch: fetchInTime,
  })
  try {
    await (typeof redirected === 'string' ? transport.finishAuth(redirected) : transport.finishAuth(redirected))
  } catch (cause) {
    throw loginFailed(serverUrl, 401, cause)
  }
}

function loginFailed(serverUrl: string, status: number, cause: unknown): McpError {
  const why = sentence(reasonOf(cause))
  const about = { why: `it wants a login, and there is none: ${why}`, mayHaveArrived: false, status, cause }
  return new McpError('login-failed', `Cannot log in at ${serverUrl}: ${why}`, about)
}

const fetchInTime: typeof fetch = (url, init) => {
  const late = AbortSignal.timeout(REQUEST_TIMEOUT)
  return fetch(url, { ...init, signal: init?.signal ? AbortSignal.any([init.signal, late]) : late })
}
