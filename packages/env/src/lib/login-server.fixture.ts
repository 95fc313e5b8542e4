import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MODERN_VERSION } from '@episodic/protocol'

export interface LoginServerOptions {
  /** What the answer to a login says of whom it comes from; the issuer itself unless given, `null` for nothing. */
  readonly iss?: string | null
  /** Whether whoever logs in is refused. */
  readonly refuses?: boolean
  /** Whose metadata the authorization server shows; its own unless given. */
  readonly issuer?: string
  /** Whether no token is ever good enough. */
  readonly spoilsTokens?: boolean
}

/** A server of MCP that wants a login, and its authorization server, both behind one port. */
export async function serveLogin(options: LoginServerOptions = {}) {
  const asked: string[] = []
  const tokens = new Set<string>()
  let base = ''
  let authority: string | null = null
  const json = (response: ServerResponse, status: number, body: object, headers = {}) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? '/', base)
    const body = (await request.setEncoding('utf8').toArray()).join('')
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return json(response, 200, { resource: `${base}/mcp`, authorization_servers: [authority ?? base] })
      case '/.well-known/oauth-authorization-server':
        return json(response, 200, {
          issuer: options.issuer ?? base,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          registration_endpoint: `${base}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
        })
      case '/register':
        asked.push('register')
        return json(response, 201, { ...JSON.parse(body), client_id: 'registered' })
      case '/authorize': {
        asked.push('log in')
        const back = new URL(url.searchParams.get('redirect_uri') as string)
        back.searchParams.set('state', url.searchParams.get('state') as string)
        if (options.refuses) back.searchParams.set('error', 'access_denied')
        else back.searchParams.set('code', 'code')
        const { iss = base } = options
        if (iss !== null) back.searchParams.set('iss', iss)
        return void response.writeHead(302, { location: String(back) }).end()
      }
      case '/token': {
        asked.push('token')
        const token = `token-${asked.length}`
        if (!options.spoilsTokens) tokens.add(token)
        return json(response, 200, { access_token: token, token_type: 'Bearer' })
      }
      case '/mcp': {
        if (!tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) {
          asked.push('refused')
          const challenge = `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`
          return json(response, 401, {}, { 'www-authenticate': challenge })
        }
        const { id, method } = JSON.parse(body)
        asked.push(method)
        const discovered = { supportedVersions: [MODERN_VERSION], capabilities: {} }
        const result = { resultType: 'complete', ...(method === 'server/discover' && discovered) }
        return json(response, 200, { jsonrpc: '2.0', id, result })
      }
      default:
        return json(response, 404, {})
    }
  }

  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${base}/mcp`,
    /** What was asked, in order; a call is named by its method. */
    asked,
    /** Names the authorization server of another one from now on. */
    moveTo(other: { readonly url: string }) {
      authority = new URL(other.url).origin
    },
    /** Takes back every token that was given out. */
    revoke: () => tokens.clear(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
