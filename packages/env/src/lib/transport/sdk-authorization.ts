import { randomText } from '@episodic/protocol/extend'
import {
  auth,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
} from '@modelcontextprotocol/sdk/client/auth.js'
import { EnvError } from '../env-error.ts'
import type { Authorization, AuthorizationOptions } from './authorization.ts'
import type { Authorizer, Refused } from './authorized.ts'

/** What `granted` remembers. */
interface Granted {
  /** The authorization server that gave it. */
  from?: string
  client?: ReturnType<OAuthClientProvider['clientInformation']>
  tokens?: Awaited<ReturnType<OAuthClientProvider['tokens']>>
  /** What was asked for, so that a wider scope has the narrower one in it. */
  scope?: string
  /** A login that goes on, for all who wait for one. */
  underway?: { readonly done: Promise<void>; readonly signal: AbortSignal | undefined }
}

/** Milliseconds until an authorization server that says nothing is given up. */
const PATIENCE = 30_000

/** Logs in at the authorization server of one resource server, by the MCP SDK. */
export function createAuthorizer(serverUrl: string, authorization: Authorization): Authorizer {
  const granted = grantedAt(authorization, serverUrl)
  const headers = (): Record<string, string> =>
    granted.tokens ? { authorization: `Bearer ${granted.tokens.access_token}` } : {}
  const renew = async (refused: Refused, signal: AbortSignal | undefined): Promise<void> => {
    // While this request was on its way, another one may have got what it lacks.
    if (headers().authorization !== refused.headers.authorization) return
    granted.underway ??= begin(refused, signal)
    const { underway } = granted
    try {
      await underway.done
    } catch (error) {
      // Whoever else waits for a login is still there.
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
      const inTime = AbortSignal.timeout(PATIENCE)
      return fetch(url, { ...init, signal: signal ? AbortSignal.any([signal, inTime]) : inTime })
    }
    const where = { fetchFn, ...(resourceMetadataUrl && { resourceMetadataUrl }) }
    const info = await discoverOAuthServerInfo(serverUrl, where)
    const { authorizationServerMetadata: metadata, resourceMetadata } = info
    const issuer = metadata?.issuer
    // RFC 8414: whose metadata it is has to be who was asked for it.
    if (issuer !== undefined && withoutSlash(issuer) !== withoutSlash(String(info.authorizationServerUrl)))
      throw new Error('the metadata of its authorization server is that of another one')
    bindTo(granted, String(info.authorizationServerUrl), authorization.options)
    const wider = status === 403
    const scope = scopeOf(
      wider ? granted.scope : undefined,
      asked.scope ?? resourceMetadata?.scopes_supported?.join(' '),
      metadata?.scopes_supported?.includes('offline_access') ? OFFLINE : undefined,
    )
    const login = new Login(authorization, granted, wider)
    const discovered = {
      authorizationServerUrl: String(info.authorizationServerUrl),
      ...(resourceMetadataUrl && { resourceMetadataUrl: String(resourceMetadataUrl) }),
      ...(resourceMetadata && { resourceMetadata }),
      ...(metadata && { authorizationServerMetadata: metadata }),
    }
    const provider = login.provider(discovered)
    const options = { serverUrl, ...where, ...(scope && { scope }) }
    if ((await auth(provider, options)) === 'REDIRECT') {
      const back = String(await authorization.options.logIn(login.page as URL, { signal }))
      if (!URL.canParse(back)) throw new Error('logIn did not give the whole address that somebody was sent back to')
      const authorizationCode = codeIn(new URL(back), login.state, issuer, requiresIssuer(metadata))
      await auth(provider, { ...options, authorizationCode })
    }
    if (scope) granted.scope = scope
  } catch (cause) {
    signal?.throwIfAborted()
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new EnvError('login-failed', `Cannot log in at ${serverUrl}: ${why}.`, { cause })
  }
}

/**
 * What one authorization server gave out is shown to no other that the resource server may name later. Throws where a client
 * was registered with the first.
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

/** The scope with which tokens can be renewed without anybody. */
const OFFLINE = 'offline_access'

/** One login, as the SDK wants to see it. */
class Login {
  readonly state = randomText()
  /** Where to log in. */
  page: URL | null = null
  readonly #authorization: Authorization
  readonly #granted: Granted
  readonly #wider: boolean
  #verifier = ''

  constructor(authorization: Authorization, granted: Granted, wider: boolean) {
    this.#authorization = authorization
    this.#granted = granted
    this.#wider = wider
  }

  provider(discovered: Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>): OAuthClientProvider {
    const { redirectUrl, client, clientMetadataUrl } = this.#authorization.options
    const granted = this.#granted
    const registered = client && { client_id: client.id, ...(client.secret && { client_secret: client.secret }) }
    return {
      redirectUrl,
      ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
      clientMetadata: metadataOf(this.#authorization.options),
      state: () => this.state,
      clientInformation: () => registered ?? granted.client,
      saveClientInformation: (information) => {
        granted.client = information
      },
      // What was granted before is not wide enough, and neither is what it can be renewed to.
      tokens: () => (this.#wider ? undefined : granted.tokens),
      saveTokens: (tokens) => {
        granted.tokens = tokens
      },
      redirectToAuthorization: (page) => {
        this.page = page
      },
      saveCodeVerifier: (verifier) => {
        this.#verifier = verifier
      },
      codeVerifier: () => this.#verifier,
      invalidateCredentials: (which) => {
        if (which === 'all' || which === 'client') delete granted.client
        if (which === 'all' || which === 'tokens') delete granted.tokens
      },
      discoveryState: () => discovered,
      saveDiscoveryState: () => {},
    }
  }
}

/** What a client says of itself where it registers. */
function metadataOf({ redirectUrl, client }: AuthorizationOptions) {
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

/** The code in the address that somebody was sent back to. Throws where it is not what was asked for, or not from whom. */
function codeIn({ searchParams }: URL, state: string, issuer: string | undefined, issuerRequired: boolean): string {
  const from = searchParams.get('iss')
  // RFC 9207: letter by letter, because what only means the same may be somebody else.
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

/** All scopes of some lists, each once; empty where there is none. */
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
