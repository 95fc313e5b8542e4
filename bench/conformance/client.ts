import { EnvError, openChannel } from '@episodic/env'
import type { OAuthClient, OAuthProvider, OAuthTokens } from '@episodic/mcp-client'
import { finishAuthorization } from '@episodic/mcp-client/login'
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/client'

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

const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Context
const url = process.argv.at(-1) as string
/** The page to which the user was sent last, until the user has agreed there. */
let page: URL | null = null
const authorization = process.env.MCP_CONFORMANCE_SCENARIO?.startsWith('auth/client-credentials')
  ? createProgram()
  : createUser()
const elicit = async () => ({ action: 'accept', content: {} }) as const
const channel = await withLogin(() => openChannel({ url, authorization }, { elicit }))
try {
  const { tools } = (await withLogin(() => channel.request('tools/list', {}))) as { tools: Tool[] }
  for (const call of context.toolCalls ?? tools.map((tool) => sampleCall(tool, tools)))
    await withLogin(() => channel.request('tools/call', { ...call }))
} finally {
  await channel.close()
}

/** Makes a request, and makes it again after the user has agreed, as often as the user is sent away. */
async function withLogin<T>(run: () => Promise<T>): Promise<T> {
  for (let logins = 0; ; logins++)
    try {
      return await run()
    } catch (error) {
      if (!EnvError.is(error, 'login-failed') || !page || logins === 3) throw error
      const answer = await fetch(page, { redirect: 'manual' })
      page = null
      const { searchParams } = new URL(answer.headers.get('location') ?? '')
      await finishAuthorization(url, authorization, searchParams)
    }
}

/** A program, which proves to be a registered client. */
function createProgram(): OAuthProvider {
  const { client_id: clientId = '', client_secret: clientSecret = '', private_key_pem: privateKey } = context
  const algorithm = String(context.signing_algorithm)
  const provider = privateKey
    ? new PrivateKeyJwtProvider({ clientId, privateKey, algorithm })
    : new ClientCredentialsProvider({ clientId, clientSecret })
  return provider
}

/** A user in a browser, with what is granted in memory. */
function createUser(): OAuthProvider & { readonly clientMetadataUrl: string } {
  const { client_id, client_secret } = context
  let client: OAuthClient | undefined =
    client_id === undefined ? undefined : { client_id, ...(client_secret && { client_secret }) }
  let tokens: OAuthTokens | undefined
  let verifier = ''
  let found: Awaited<ReturnType<NonNullable<OAuthProvider['discoveryState']>>>
  return {
    redirectUrl: 'http://localhost:3000/callback',
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    clientMetadata: {
      client_name: 'Episodic',
      redirect_uris: ['http://localhost:3000/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(client_secret && { token_endpoint_auth_method: 'client_secret_basic' }),
    },
    state: () => 'state-of-the-only-login',
    clientInformation: () => client,
    saveClientInformation: (registered) => {
      client = registered
    },
    tokens: () => tokens,
    saveTokens: (granted) => {
      tokens = granted
    },
    redirectToAuthorization: (to) => {
      page = to
    },
    saveCodeVerifier: (text) => {
      verifier = text
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (state) => {
      found = state
    },
    discoveryState: () => found,
    invalidateCredentials: (which) => {
      if (which === 'all' || which === 'client') client = undefined
      if (which === 'all' || which === 'tokens') tokens = undefined
      if (which === 'all' || which === 'discovery') found = undefined
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
