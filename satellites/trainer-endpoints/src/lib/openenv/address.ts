/** Where a request goes. */
export interface OpenEnvAddress {
  readonly environment: string
  /** The token of a client that cannot send headers; `null` if the path has none. */
  readonly token: string | null
  /** The rest of the path, such as `/ws`. */
  readonly route: string
}

/** The paths of the endpoint begin with this. */
export const PREFIX = '/openenv/'

/** A name of an environment has no character that could be a part of the route. */
const ADDRESS = /^\/openenv\/(?:token\/([^/]+)\/)?([\w-]+)(\/.*?)\/?$/

/** Reads `/openenv/<environment>/<route>` or `/openenv/token/<token>/<environment>/<route>`; `null` for other paths. */
export function parseAddress(path: string): OpenEnvAddress | null {
  const [, token, environment, route] = ADDRESS.exec(path.replace(/\/{2,}/g, '/')) ?? []
  if (environment === undefined || route === undefined) return null
  return { environment, token: token === undefined ? null : decoded(token), route }
}

/** A token that is not encoded as it should be is taken as it is, and rejected by its value. */
function decoded(token: string): string {
  try {
    return decodeURIComponent(token)
  } catch {
    return token
  }
}
