/** A value, or the promise of one. */
type Later<T> = T | Promise<T>

/** Which authorization server is meant. Whoever keeps one set of credentials may leave it aside. */
export interface OAuthContext {
  readonly issuer: string
}

/** What a client says of itself to an authorization server. */
export interface OAuthClientMetadata {
  redirect_uris: string[]
  client_name?: string
  scope?: string
  grant_types?: string[]
  response_types?: string[]
  token_endpoint_auth_method?: string
}

/** A client as the authorization server knows it. */
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
 * Where the tokens for one server come from and are kept. A provider of an MCP SDK fits as it is, those for client
 * credentials and private keys among them.
 *
 * A session asks for `tokens` before each request, renews them when the server refuses them, and has the user agent
 * redirected only where no other way is left; `finishAuthorization` then takes the code that comes back.
 */
export interface OAuthProvider {
  /** Where the user agent comes back to; `undefined` where no user takes part. */
  readonly redirectUrl: string | URL | undefined
  readonly clientMetadata: OAuthClientMetadata
  state?(): Later<string>
  clientInformation(context?: OAuthContext): Later<OAuthClient | undefined>
  /** Left out, the client has to be known to the authorization server already. */
  saveClientInformation?(client: OAuthClient, context?: OAuthContext): Later<void>
  tokens(context?: OAuthContext): Later<OAuthTokens | undefined>
  saveTokens(tokens: OAuthTokens, context?: OAuthContext): Later<void>
  redirectToAuthorization(url: URL): Later<void>
  saveCodeVerifier(verifier: string): Later<void>
  codeVerifier(): Later<string>
  /**
   * Keeps what was found out about the authorization server, beside the verifier: a code is sent only to whoever was meant
   * to give it.
   */
  saveDiscoveryState?(state: object): Later<void>
  discoveryState?(): Later<object | undefined>
  /** Forgets credentials that the authorization server no longer takes. */
  invalidateCredentials?(which: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Later<void>
  /** Chooses another grant than that of an authorization code, such as `client_credentials`. */
  prepareTokenRequest?(scope?: string): Later<URLSearchParams | undefined>
}
