import { type Channel, type JsonObject, WireError, wireErrorCodeOf } from '@episodic/protocol'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpError, ResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { Agent } from 'undici'
import { EnvError } from './env-error.ts'
import { createFetch } from './http-fetch.ts'
import type { CommandTarget, HttpTarget } from './target.ts'

/** Sockets that one HTTP connection may hold; calls beyond it wait for a free one. */
const SOCKETS = 64
/** How long an answer may take before the call fails, in milliseconds. */
const CALL_TIMEOUT = 120_000

/** Opens a channel to an MCP server with the SDK's client. Rejects with `connection-failed`. */
export async function openSdkChannel(
  target: HttpTarget | CommandTarget,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Channel> {
  signal?.throwIfAborted()
  const client = new Client({ name: 'episodic', version: '1.0.0' })
  const { transport, release, name } = 'url' in target ? openHttp(target) : openCommand(target)
  try {
    await client.connect(transport as Parameters<Client['connect']>[0], { signal })
  } catch (cause) {
    await client.close().catch(() => {})
    await release()
    signal?.throwIfAborted()
    throw new EnvError('connection-failed', `Cannot connect to ${name}: ${reasonOf(cause)}`, { cause })
  }
  let closed: Promise<void> | null = null
  return {
    async request(method, params, options = {}) {
      options.signal?.throwIfAborted()
      try {
        return await client.request({ method, params: params as JsonObject }, ResultSchema, {
          timeout: CALL_TIMEOUT,
          ...(options.signal && { signal: options.signal }),
        })
      } catch (error) {
        options.signal?.throwIfAborted()
        throw translate(error, name)
      }
    },
    close() {
      closed ??= (async () => {
        if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession().catch(() => {})
        await client.close()
        await release()
      })()
      return closed
    },
  }
}

function openHttp({ url, token, headers }: HttpTarget) {
  const agent = new Agent({ connections: SOCKETS, pipelining: 1 })
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: createFetch(agent),
    requestInit: { headers: { ...headers, ...(token && { Authorization: `Bearer ${token}` }) } },
  })
  return { transport, release: () => agent.close(), name: url }
}

function openCommand({ command, args = [], env, cwd }: CommandTarget) {
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    ...(env && { env: { ...env } }),
    ...(cwd && { cwd }),
    stderr: 'inherit',
  })
  return { transport, release: async () => {}, name: `the command ${command}` }
}

/** A refusal keeps its code; anything else means that no answer came. */
function translate(error: unknown, name: string): unknown {
  if (error instanceof McpError) {
    const code = (error.data as { code?: unknown } | undefined)?.code
    const known = wireErrorCodeOf(error.code)
    if (known)
      return new WireError(known, error.message.replace(/^MCP error -?\d+: /, ''), {
        cause: error,
        details: typeof code === 'string' ? (error.data as JsonObject) : {},
      })
  }
  return new EnvError('connection-failed', `No answer from ${name}: ${reasonOf(error)}`, { cause: error })
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message ? `${error.message} (${cause.message})` : error.message
}
