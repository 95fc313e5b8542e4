import { DEFAULT_SEAT, MODERN_VERSION } from '@episodic/protocol'
import {
  StreamableHTTPClientTransport as ModernHttpTransport,
  Client as ModernSdkClient,
} from '@modelcontextprotocol/client'
import { StdioClientTransport as ModernStdioTransport } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, onTestFinished } from 'vitest'
import type { HttpOptions } from './http-server.ts'
import { lamp } from './lamp.fixture.ts'
import { numberGuessing } from './number-guessing.fixture.ts'
import { plainTally, tally } from './tally.fixture.ts'
import { openOverHttp, serveTestHost } from './testbed.fixture.ts'
import { vault } from './vault.fixture.ts'

/** The resource that says how a session stands. */
export const STATE = 'episodic://session/state'

export const ENVIRONMENTS = [tally, lamp, vault, numberGuessing]
export const serveWorlds = (options: HttpOptions = {}) => serveTestHost(options, { environments: ENVIRONMENTS })
/** The same, where each MCP session is one episode of the first. */
export const servePlainWorlds = (options: HttpOptions = {}) =>
  serveTestHost(options, { environments: [plainTally, lamp, vault, numberGuessing] })
export type Served = Awaited<ReturnType<typeof serveWorlds>>

/** Opens a session and gives its URL. */
export async function sessionUrl({ server }: Served, environment = 'tally') {
  const { seats } = await openOverHttp(server, { environment })
  return server.sessionUrl(seats[DEFAULT_SEAT]?.capability as string)
}

/** Where a client of the SDKs connects: a URL, or a command. */
export type Place = string | { readonly command: string; readonly args: string[] }

/** What the tests ask of an official client. `updated` gives the resources that it was told of, one by one. */
export interface Reader {
  readonly client: Pick<Client, 'readResource' | 'listResources' | 'listResourceTemplates' | 'close'>
  call(name: string, args: object): Promise<{ readonly [key: string]: unknown; structuredContent?: unknown }>
  subscribe(uri: string): Promise<() => Promise<unknown>>
  updated(): Promise<string>
}

function updates() {
  const uris: string[] = []
  let changed = Promise.withResolvers<void>()
  return {
    add(uri: string) {
      uris.push(uri)
      changed.resolve()
      changed = Promise.withResolvers<void>()
    },
    async updated() {
      while (uris.length === 0) await changed.promise
      return uris.shift() as string
    },
  }
}

/** Connects the SDK of the era before 2026. */
export async function connectFirst(place: Place): Promise<Reader> {
  const { add, updated } = updates()
  const client = new Client({ name: 'first', version: '1.0.0' })
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => add(params.uri))
  const transport =
    typeof place === 'string' ? new StreamableHTTPClientTransport(new URL(place)) : new StdioClientTransport(place)
  await client.connect(transport as Parameters<Client['connect']>[0])
  onTestFinished(() => client.close())
  return {
    client,
    updated,
    call: (name, args) => client.callTool({ name, arguments: { ...args } }),
    async subscribe(uri) {
      await client.subscribeResource({ uri })
      return () => client.unsubscribeResource({ uri })
    },
  }
}

/** Connects the SDK of 2026. */
export async function connectSecond(place: Place): Promise<Reader> {
  const { add, updated } = updates()
  const client = new ModernSdkClient(
    { name: 'second', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: MODERN_VERSION } } },
  )
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => add(params.uri))
  onTestFinished(() => client.close())
  await client.connect(
    typeof place === 'string' ? new ModernHttpTransport(new URL(place)) : new ModernStdioTransport(place),
  )
  return {
    client: client as unknown as Reader['client'],
    updated,
    call: (name, args) => client.callTool({ name, arguments: { ...args } }),
    async subscribe(uri) {
      const subscription = await client.listen({ resourceSubscriptions: [uri] })
      expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [uri] })
      return () => subscription.close()
    },
  }
}
