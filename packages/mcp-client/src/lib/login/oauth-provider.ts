type Later<T> = T | Promise<T>

/** The authorization server of a call. A provider for a single server may ignore it. */
export interface OAuthContext {
  readonly issuer: string
}

/** The metadata of a client, for its registration. */
export interface OAuthClientMetadata {
  redirect_uris: string[]
  client_name?: string
  scope?: string
  grant_types?: string[]
  response_types?: string[]
  token_endpoint_auth_method?: string
}

/** A registered client. */
export interface OAuthClient {
  client_id: string
  client_secret?: string
  issuer?: string
}

export interface OAuthTokens {
  access_token: string
  token_type: string
  /** Seconds. */
  expires_in?: number
  refresh_token?: string
  scope?: string
  issuer?: string
}

/**
 * Obtains and stores the tokens for one server. The providers of the MCP SDKs implement it, those for client
 * credentials and private keys included.
 *
 * A session reads `tokens` before each request and renews them when the server rejects them. It redirects the user
 * agent only if nothing else works; pass the code of the redirect to `finishAuthorization`.
 */
export interface OAuthProvider {
  /** The target of the redirect; `undefined` if no user is involved. */
  readonly redirectUrl: string | URL | undefined
  readonly clientMetadata: OAuthClientMetadata
  state?(): Later<string>
  clientInformation(context?: OAuthContext): Later<OAuthClient | undefined>
  /** Without it, the client has to be registered already. */
  saveClientInformation?(client: OAuthClient, context?: OAuthContext): Later<void>
  tokens(context?: OAuthContext): Later<OAuthTokens | undefined>
  saveTokens(tokens: OAuthTokens, context?: OAuthContext): Later<void>
  redirectToAuthorization(url: URL): Later<void>
  saveCodeVerifier(verifier: string): Later<void>
  codeVerifier(): Later<string>
  /**
   * Stores the discovered metadata of the authorization server, beside the verifier, so that a code is sent only to the
   * server that issued it.
   */
  saveDiscoveryState?(state: object): Later<void>
  discoveryState?(): Later<object | undefined>
  /** Deletes credentials that the authorization server rejected. */
  invalidateCredentials?(which: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Later<void>
  /** Chooses another grant than the authorization code, for example `client_credentials`. */
  prepareTokenRequest?(scope?: string): Later<URLSearchParams | undefined>
}
