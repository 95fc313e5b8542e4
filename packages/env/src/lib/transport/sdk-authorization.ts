import { randomText } from '@episodic/protocol/internal'
import {
  auth,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
} from '@modelcontextprotocol/sdk/client/auth.js'
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js'
import { EnvError } from '../env-error.ts'
import type { Authorization, AuthorizationOptions, ProgramLogin, UserLogin } from './authorization.ts'
import type { Authorizer, Refused } from './authorized.ts'

/** A value of `granted`. */
interface Granted {
  /** The authorization server of the grant. */
  from?: string
  client?: ReturnType<OAuthClientProvider['clientInformation']>
  tokens?: Awaited<ReturnType<OAuthClientProvider['tokens']>>
  /** The requested scope, so that a wider request includes it. */
  scope?: string
  /** The login in progress, which concurrent requests share. */
  underway?: { readonly done: Promise<void>; readonly signal: AbortSignal | undefined }
}

/** Milliseconds until a request to an authorization server fails. */
const REQUEST_TIMEOUT = 30_000

/** Logs in at the authorization server of one resource server, by the MCP SDK. */
export function createAuthorizer(serverUrl: string, authorization: Authorization): Authorizer {
  const granted = grantedAt(authorization, serverUrl)
  const headers = (): Record<string, string> =>
    granted.tokens ? { authorization: `Bearer ${granted.tokens.access_token}` } : {}
  const renew = async (refused: Refused, signal: AbortSignal | undefined): Promise<void> => {
    // Another request may have logged in meanwhile.
    if (headers().authorization !== refused.headers.authorization) return
    granted.underway ??= begin(refused, signal)
    const { underway } = granted
    try {
      await underway.done
    } catch (error) {
      // The login was aborted by another request, and this one still needs it.
      if (underway.signal?.aborted && !signal?.aborted) return renew(refused, signal)
      throw error
    }
  }
  const begin = (refused: Refused, signal: AbortSignal | undefined) => {
    const done = logIn(serverUrl, authorization, granted, refused, signal).finally(() => {
      delete granted.underway
    })
    return { done, signal }
  }
  return { headers, renew }
}

async function logIn(
  serverUrl: string,
  authorization: Authorization,
  granted: Granted,
  { status, challenge }: Refused,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    const asked = extractWWWAuthenticateParams(
      new Response(null, { status, headers: { 'www-authenticate': challenge } }),
    )
    const { resourceMetadataUrl } = asked
    const fetchFn: typeof fetch = (url, init) => {
      const inTime = AbortSignal.timeout(REQUEST_TIMEOUT)
      return fetch(url, { ...init, signal: signal ? AbortSignal.any([signal, inTime]) : inTime })
    }
    const where = { fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) }
    const info = await discoverOAuthServerInfo(serverUrl, where)
    const { authorizationServerMetadata: metadata, resourceMetadata } = info
    const issuer = metadata?.issuer
    // RFC 8414: the issuer in the metadata has to be the server that returned it.
    if (issuer !== undefined && withoutSlash(issuer) !== withoutSlash(String(info.authorizationServerUrl)))
      throw new Error('the metadata of its authorization server is that of another one')
    bindTo(granted, String(info.authorizationServerUrl), authorization.options)
    const wider = status === 403
    const scope = scopeOf(
      wider ? granted.scope : undefined,
      asked.scope ?? resourceMetadata?.scopes_supported?.join(' '),
      metadata?.scopes_supported?.includes('offline_access') ? OFFLINE : undefined,
    )
    const discovered: Discovered = {
      authorizationServerUrl: String(info.authorizationServerUrl),
      ...(resourceMetadataUrl && { resourceMetadataUrl: String(resourceMetadataUrl) }),
      ...(resourceMetadata && { resourceMetadata }),
      ...(metadata && { authorizationServerMetadata: metadata }),
    }
    const request = { serverUrl, ...where, ...(scope && { scope }) }
    const { options } = authorization
    if ('logIn' in options) await logInUser(options, granted, wider, discovered, request, signal)
    else await auth(createProgramLogin(options, granted, scope, discovered), request)
    if (scope) granted.scope = scope
  } catch (cause) {
    signal?.throwIfAborted()
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new EnvError('login-failed', `Cannot log in at ${serverUrl}: ${why}.`, { cause })
  }
}

/** Lets the user log in, unless the tokens that were granted before can be renewed. */
async function logInUser(
  options: UserLogin,
  granted: Granted,
  wider: boolean,
  discovered: Discovered,
  request: Parameters<typeof auth>[1],
  signal: AbortSignal | undefined,
): Promise<void> {
  const { provider, state, pageForUser } = createUserLogin(options, granted, wider, discovered)
  if ((await auth(provider, request)) !== 'REDIRECT') return
  const back = String(await options.logIn(pageForUser() as URL, { signal }))
  if (!URL.canParse(back)) throw new Error('logIn did not resolve with the complete URL of the redirect')
  const metadata = discovered.authorizationServerMetadata
  const authorizationCode = codeIn(new URL(back), state, metadata?.issuer, requiresIssuer(metadata))
  await auth(provider, { ...request, authorizationCode })
}

/**
 * Binds grants to one authorization server: another one, which the resource server may name later, receives none of
 * them. Throws if a client is registered with the first.
 */
function bindTo(granted: Granted, server: string, { client }: AuthorizationOptions): void {
  const { from = server } = granted
  if (from !== server) {
    if (client) throw new Error(`it names another authorization server than ${from}, which knows the client`)
    delete granted.client
    delete granted.tokens
    delete granted.scope
  }
  granted.from = server
}

/** The scope with which tokens can be renewed without the user. */
const OFFLINE = 'offline_access'

/** What is known of the servers, so that the SDK does not ask for it again. */
type Discovered = NonNullable<Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>>

/** A program's login, as a provider for the SDK, which asks for new tokens each time: these need no user. */
function createProgramLogin(
  { client }: ProgramLogin,
  granted: Granted,
  scope: string | undefined,
  discovered: Discovered,
): OAuthClientProvider {
  const known = {
    clientId: client.id,
    ...(scope && { scope }),
    expectedIssuer: discovered.authorizationServerMetadata?.issuer ?? discovered.authorizationServerUrl,
  }
  const provider: OAuthClientProvider =
    'secret' in client
      ? new ClientCredentialsProvider({ ...known, clientSecret: client.secret })
      : new PrivateKeyJwtProvider({ ...known, privateKey: client.privateKey, algorithm: client.algorithm })
  return Object.assign(provider, {
    saveTokens: (tokens: Granted['tokens']) => {
      granted.tokens = tokens
    },
    discoveryState: () => discovered,
    saveDiscoveryState: () => {},
  })
}

/** One login of a user, as a provider for the SDK. With `wider`, a new scope is asked for. */
function createUserLogin(options: UserLogin, granted: Granted, wider: boolean, discovered: Discovered) {
  const { redirectUrl, client, clientMetadataUrl } = options
  const registered = client && { client_id: client.id, ...(client.secret && { client_secret: client.secret }) }
  const state = randomText()
  let page: URL | null = null
  let codeVerifier = ''
  const provider: OAuthClientProvider = {
    redirectUrl,
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientMetadata: metadataOf(options),
    state: () => state,
    clientInformation: () => registered ?? granted.client,
    saveClientInformation: (information) => {
      granted.client = information
    },
    // For a wider scope, neither the present tokens nor renewed ones suffice.
    tokens: () => (wider ? undefined : granted.tokens),
    saveTokens: (tokens) => {
      granted.tokens = tokens
    },
    redirectToAuthorization: (to) => {
      page = to
    },
    saveCodeVerifier: (verifier) => {
      codeVerifier = verifier
    },
    codeVerifier: () => codeVerifier,
    invalidateCredentials: (which) => {
      if (which === 'all' || which === 'client') delete granted.client
      if (which === 'all' || which === 'tokens') delete granted.tokens
    },
    discoveryState: () => discovered,
    saveDiscoveryState: () => {},
  }
  return { provider, state, pageForUser: () => page }
}

/** Returns the client metadata of a registration. */
function metadataOf({ redirectUrl, client }: UserLogin) {
  const { protocol, hostname } = new URL(redirectUrl)
  const isOwnMachine = ['localhost', '127.0.0.1', '[::1]'].includes(hostname) || !/^https?:$/.test(protocol)
  return {
    client_name: 'Episodic',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: isOwnMachine ? 'native' : 'web',
    ...(client?.secret !== undefined && { token_endpoint_auth_method: 'client_secret_basic' }),
  }
}

/**
 * Returns the code in the URL of the redirect. Throws if it belongs to another login or another authorization server.
 */
function codeIn({ searchParams }: URL, state: string, issuer: string | undefined, issuerRequired: boolean): string {
  const from = searchParams.get('iss')
  // RFC 9207: compare exactly, because an equivalent URL may be another server.
  if (from !== null && issuer !== undefined && from !== issuer)
    throw new Error('the answer to the login comes from another authorization server')
  if (from === null && issuerRequired) throw new Error('the answer to the login does not say whom it comes from')
  if (searchParams.get('state') !== state) throw new Error('the answer to the login belongs to another login')
  const refusal = searchParams.get('error')
  if (refusal !== null) throw new Error(`the authorization server refused (${refusal.slice(0, 64)})`)
  const code = searchParams.get('code')
  if (code === null) throw new Error('the answer to the login has no code in it')
  return code
}

function requiresIssuer(metadata: object | undefined): boolean {
  return (
    (metadata as { authorization_response_iss_parameter_supported?: unknown } | undefined)
      ?.authorization_response_iss_parameter_supported === true
  )
}

/** Returns the scopes of some lists without duplicates; empty if there are none. */
function scopeOf(...lists: readonly (string | undefined)[]): string {
  const asked = lists.flatMap((list) => list?.split(' ').filter(Boolean) ?? [])
  return [...new Set(asked)].join(' ')
}

function grantedAt({ granted }: Authorization, serverUrl: string): Granted {
  const known = granted.get(serverUrl) as Granted | undefined
  if (known) return known
  const none: Granted = {}
  granted.set(serverUrl, none)
  return none
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '')
}
