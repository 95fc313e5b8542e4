import { EnvError } from '../env-error.ts'

/** How somebody logs in where a server asks for it. */
export interface AuthorizationOptions {
  /** Where the authorization server sends whoever logged in, with the code that it gives. */
  readonly redirectUrl: string
  /**
   * Has somebody log in at a page, and resolves with the address that they were sent back to, whole. Rejects where they
   * would not, or when `signal` is aborted.
   */
  readonly logIn: (page: URL, options: { readonly signal: AbortSignal | undefined }) => Promise<string | URL>
  /** A client that was registered with the authorization server beforehand. Left out, one is registered where that can be. */
  readonly client?: { readonly id: string; readonly secret?: string | undefined } | undefined
  /** Where a document about this client is, which some authorization servers take in the place of a registration. */
  readonly clientMetadataUrl?: string | undefined
}

/** A login, as `createAuthorization` makes it. What was granted is remembered in it, and nowhere else. */
export interface Authorization {
  readonly options: AuthorizationOptions
  /** What authorization servers gave out, by name. For this package alone: all of it is secret. */
  readonly granted: Map<string, unknown>
}

/**
 * Creates a login with OAuth 2.1, for targets over HTTP. Channels that share it log in once: nothing happens until a server
 * answers with 401, or wants another scope with 403.
 *
 * Makes sure that the code came from the authorization server that was asked (RFC 9207), and that its metadata is its own.
 * Where a server names another one later, that one sees nothing of what the first gave out, and never a `client`.
 * Throws `option-invalid` for a `redirectUrl` that is no URL.
 */
export function createAuthorization(options: AuthorizationOptions): Authorization {
  if (!URL.canParse(options.redirectUrl))
    throw new EnvError('option-invalid', `redirectUrl is ${JSON.stringify(options.redirectUrl)}, and has to be a URL.`)
  return { options, granted: new Map() }
}
