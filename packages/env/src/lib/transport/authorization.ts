import { optionInvalid } from '../env-error.ts'

/** How to log in when a server asks for it: as a user in a browser, or as a program with credentials of its own. */
export type AuthorizationOptions = UserLogin | ProgramLogin

/** A login of a user, who agrees in a browser. */
export interface UserLogin {
  /** The URL to which the authorization server redirects the user with a code. */
  readonly redirectUrl: string
  /**
   * Lets the user log in at a page, and resolves with the complete URL of the redirect. Rejects if the user declines,
   * or if `signal` is aborted.
   */
  readonly logIn: (page: URL, options: { readonly signal: AbortSignal | undefined }) => Promise<string | URL>
  /**
   * A client that is registered with the authorization server. Default: one is registered, if the server supports that.
   */
  readonly client?: { readonly id: string; readonly secret?: string | undefined } | undefined
  /** The URL of a client metadata document, which some authorization servers accept instead of a registration. */
  readonly clientMetadataUrl?: string | undefined
}

/** A login of a program, without a user: OAuth's client credentials (RFC 6749, section 4.4; SEP-1046 of MCP). */
export interface ProgramLogin {
  /**
   * A client that is registered with the authorization server, and proves it with a secret, or with a token that it
   * signs with its private key (PKCS #8 as PEM) by an algorithm such as `ES256`.
   */
  readonly client:
    | { readonly id: string; readonly secret: string }
    | { readonly id: string; readonly privateKey: string; readonly algorithm: string }
}

/** A login, from `createAuthorization`. It holds the granted tokens in memory. */
export interface Authorization {
  readonly options: AuthorizationOptions
  /** The grants of authorization servers, by server URL. Internal and secret. */
  readonly granted: Map<string, unknown>
}

/**
 * Creates a login with OAuth 2.1, for targets over HTTP. Channels that share it log in once, when a server answers with
 * 401, or asks for another scope with 403.
 *
 * Checks that the code comes from the expected authorization server (RFC 9207), and that the metadata names that
 * server. If a server later names another authorization server, that one receives no token of the first, and never
 * `client`. Throws `option-invalid` for an invalid `redirectUrl`.
 */
export function createAuthorization(options: AuthorizationOptions): Authorization {
  if ('logIn' in options && !URL.canParse(options.redirectUrl))
    throw optionInvalid(`redirectUrl is ${JSON.stringify(options.redirectUrl)}, and has to be a URL.`)
  return { options, granted: new Map() }
}
