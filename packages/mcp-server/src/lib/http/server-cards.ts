import { isIP } from 'node:net'
import type { EnvironmentInfo } from '@episodic/protocol'
import { MODERN_VERSION, shorten } from '@episodic/protocol/internal'
import { PROTOCOL_VERSIONS } from '../dispatch/message.ts'
import { titleOf } from '../dispatch/server-info.ts'
import type { Host } from '../host/host.ts'
import { isLoopback } from './host-origin-check.ts'

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'
const CATALOG = '/.well-known/ai-catalog.json'

/** The most characters of a card's description. */
const MOST_DESCRIPTION = 100

export interface DiscoveryPage {
  readonly type: string
  readonly text: string
}

interface Site {
  /** The name and the port that a client has asked for. They are checked. */
  readonly host: string
  readonly asksTokens: boolean
}

/**
 * Returns the Server Card of an environment, or the catalog of all of them; `undefined` for any other path. A card says
 * what `server/discover` says of the server, and where it is. It is never that of a session: a session URL is a secret.
 */
export function findDiscoveryPage({ environments }: Host, path: string, site: Site): DiscoveryPage | undefined {
  if (path === CATALOG)
    return { type: 'application/ai-catalog+json', text: JSON.stringify(catalogOf(environments, site)) }
  const [, named] = /^\/mcp(?:\/e\/([\w-]+))?\/server-card$/.exec(path) ?? [null, null]
  if (named === null) return undefined
  const environment = named === undefined ? environments[0] : environments.find(({ name }) => name === named)
  return environment && { type: CARD_TYPE, text: JSON.stringify(cardOf(environment, site)) }
}

const CARD_TYPE = 'application/mcp-server-card+json'

function catalogOf(environments: readonly EnvironmentInfo[], site: Site) {
  const entries = environments.map(({ name }) => ({
    identifier: `urn:air:${domainOf(site)}:${name}`,
    displayName: titleOf(name),
    type: CARD_TYPE,
    url: `${urlOf(name, site)}/server-card`,
  }))
  return { specVersion: '1.0', entries }
}

function cardOf({ name, version, description, handle }: EnvironmentInfo, site: Site) {
  const domain = domainOf(site)
  const publisher = isIP(domain) ? domain : domain.split('.').toReversed().join('.')
  const authorization = { name: 'Authorization', description: 'Bearer <token>', isRequired: true, isSecret: true }
  return {
    $schema: SCHEMA,
    name: `${publisher}/${name}`,
    version,
    title: titleOf(name),
    description: shorten(description.replace(/\s+/g, ' ').trim(), MOST_DESCRIPTION - 1),
    remotes: [
      {
        type: 'streamable-http',
        url: urlOf(name, site),
        // Without a handle, the MCP session is the episode, and the newest version has no sessions.
        supportedProtocolVersions: handle === undefined ? PROTOCOL_VERSIONS : [MODERN_VERSION, ...PROTOCOL_VERSIONS],
        ...(site.asksTokens && { headers: [authorization] }),
      },
    ],
  }
}

/** The server speaks plain HTTP. On a network, a reverse proxy in front of it speaks HTTPS. */
function urlOf(name: string, { host }: Site): string {
  return `${isLoopback(toHostname(host)) ? 'http' : 'https'}://${host}/mcp/e/${name}`
}

/** The domain of a site, in the characters that names of servers have. */
function domainOf({ host }: Site): string {
  const name = toHostname(host)
  return isLoopback(name) ? 'localhost' : name.toLowerCase().replace(/[^a-z\d.]+/g, '-')
}

function toHostname(host: string): string {
  return host.replace(/:\d+$/, '')
}
