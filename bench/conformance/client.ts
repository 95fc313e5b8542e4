import { createAuthorization } from '@episodic/env'
import { openChannel } from '@episodic/env/extend'

// The suite's client: it lists the tools of the server that it is told of, and makes the calls that it is told, or else calls
// each tool with what its schema asks for. Where it has to log in, the suite is in the place of a browser and of whoever
// sits in front of it; and where it is asked for something, it accepts what is filled in already.

interface Tool {
  readonly name: string
  readonly inputSchema: {
    readonly properties?: Record<string, { readonly type?: string }>
    readonly [keyword: string]: unknown
  }
}

const SAMPLES: Readonly<Record<string, unknown>> = { number: 5, integer: 5, string: 'text', boolean: true }

interface Call {
  readonly name: string
  readonly arguments: Record<string, never>
}

/** What the suite tells a client of a scenario. */
interface Context {
  readonly toolCalls?: readonly Call[]
  /** A client that is registered already. */
  readonly client_id?: string
  readonly client_secret?: string
}

const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Context
const authorization = createAuthorization({
  redirectUrl: 'http://localhost:3000/callback',
  clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
  ...(context.client_id !== undefined && { client: { id: context.client_id, secret: context.client_secret } }),
  async logIn(page, { signal }) {
    const answer = await fetch(page, { redirect: 'manual', ...(signal && { signal }) })
    return answer.headers.get('location') ?? ''
  },
})
const url = process.argv.at(-1) as string
const channel = await openChannel({ url, authorization }, { elicit: async () => ({ action: 'accept', content: {} }) })
try {
  const { tools } = (await channel.request('tools/list', {})) as { tools: Tool[] }
  for (const call of context.toolCalls ?? tools.map((tool) => sampleCall(tool, tools)))
    await channel.request('tools/call', { ...call })
} finally {
  await channel.close()
}

/** Where an object is asked for, it is the schema of the first tool, which shows what came through of that. */
function sampleCall({ name, inputSchema }: Tool, [first]: readonly Tool[]): Call {
  const properties = Object.entries(inputSchema.properties ?? {})
  const samples: typeof SAMPLES = { ...SAMPLES, object: first?.inputSchema }
  const args = properties.map(([key, { type = '' }]) => [key, samples[type] ?? null])
  return { name, arguments: Object.fromEntries(args) }
}
