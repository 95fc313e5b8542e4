import { openChannel } from '@episodic/env'
import { createAuthorization } from '@episodic/env/internal'

// The suite's client: it lists the tools of the given server, and makes the given calls, or else calls each tool with
// arguments that fit its schema. For a login, the suite acts as the browser and its user. A request for input is
// accepted with the defaults of the form.

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

/** What the suite passes to a client about a scenario. */
interface Context {
  readonly toolCalls?: readonly Call[]
  /** A client that is registered already. */
  readonly client_id?: string
  readonly client_secret?: string
  /** A key with which a client signs what proves who it is. */
  readonly private_key_pem?: string
  readonly signing_algorithm?: string
}

type Login = Parameters<typeof createAuthorization>[0]

const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Context
const authorization = createAuthorization(
  process.env.MCP_CONFORMANCE_SCENARIO?.startsWith('auth/client-credentials') ? programLogin() : userLogin(),
)
const url = process.argv.at(-1) as string
const channel = await openChannel({ url, authorization }, { elicit: async () => ({ action: 'accept', content: {} }) })
try {
  const { tools } = (await channel.request('tools/list', {})) as { tools: Tool[] }
  for (const call of context.toolCalls ?? tools.map((tool) => sampleCall(tool, tools)))
    await channel.request('tools/call', { ...call })
} finally {
  await channel.close()
}

/** A login by a program, which proves to be a registered client. */
function programLogin(): Login {
  const { client_id: id = '', client_secret: secret = '', private_key_pem: privateKey, signing_algorithm } = context
  return { client: privateKey ? { id, privateKey, algorithm: String(signing_algorithm) } : { id, secret } }
}

/** A login by a user in a browser. */
function userLogin(): Login {
  return {
    redirectUrl: 'http://localhost:3000/callback',
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    ...(context.client_id !== undefined && { client: { id: context.client_id, secret: context.client_secret } }),
    async logIn(page, { signal }) {
      const answer = await fetch(page, { redirect: 'manual', ...(signal && { signal }) })
      return answer.headers.get('location') ?? ''
    },
  }
}

/** For an object, sends the schema of the first tool, so that the suite sees what the client received of it. */
function sampleCall({ name, inputSchema }: Tool, [first]: readonly Tool[]): Call {
  const properties = Object.entries(inputSchema.properties ?? {})
  const samples: typeof SAMPLES = { ...SAMPLES, object: first?.inputSchema }
  const args = properties.map(([key, { type = '' }]) => [key, samples[type] ?? null])
  return { name, arguments: Object.fromEntries(args) }
}
