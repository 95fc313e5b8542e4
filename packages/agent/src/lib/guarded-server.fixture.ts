// A server that wants a token of an authorization server beside it: both over HTTP, in this process.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How often tokens were given, and the address of what they are for. */
export interface GuardedServer extends AsyncDisposable {
  readonly url: string
  readonly granted: () => readonly string[]
  /** Refuses the tokens given so far. */
  revoke(): void
}

/** Serves one tool to whoever has a token, and gives tokens to the client `ada`, for its secret or for the code `a-code`. */
export async function serveGuarded(): Promise<GuardedServer> {
  const granted: string[] = []
  let valid = ''
  const server = createServer(async (request, response) => {
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const text = (await request.toArray()).join('')
    const say = (status: number, body: object, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    const path = new URL(request.url ?? '/', base).pathname
    if (path.startsWith('/.well-known/oauth-protected-resource'))
      return say(200, { resource: `${base}/mcp`, authorization_servers: [base] })
    if (path.startsWith('/.well-known/oauth-authorization-server'))
      return say(200, {
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials', 'authorization_code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['client_secret_post', 'none'],
      })
    if (path === '/token') {
      const form = new URLSearchParams(text)
      const known =
        form.get('client_id') === 'ada' && (form.get('client_secret') === 'secret' || form.get('code') === 'a-code')
      if (!known) return say(400, { error: 'invalid_grant' })
      valid = `token-${granted.push(form.get('grant_type') ?? '')}`
      return say(200, { access_token: valid, token_type: 'Bearer', expires_in: 3_600 })
    }
    if (path !== '/mcp') return say(404, {})
    if (request.headers.authorization !== `Bearer ${valid}`) {
      const challenge = `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`
      return response.writeHead(401, { 'www-authenticate': challenge }).end()
    }
    if (request.method !== 'POST') return response.writeHead(405).end()
    const { id, method } = JSON.parse(text)
    if (id === undefined) return response.writeHead(202).end()
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'guarded', version: '1.0.0' },
      },
      'tools/list': { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'yes' }] },
    }
    return say(200, { jsonrpc: '2.0', id, result: results[method] ?? {} })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    granted: () => granted,
    revoke() {
      valid = ''
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
