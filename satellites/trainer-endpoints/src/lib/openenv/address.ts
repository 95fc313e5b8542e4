export interface OpenEnvAddress {
  readonly environment: string
  /** The token of a client that cannot send headers; `null` if the path has none. */
  readonly token: string | null
  readonly route: string
}

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
