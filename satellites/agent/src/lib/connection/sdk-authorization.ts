import { auth, type OAuthClientProvider } from '@modelcontextprotocol/client'
import { AgentError } from '../agent-error.ts'
import { reasonOf } from './reason.ts'
import type { ServerConfig } from './server-config.ts'

/** Exchanges an authorization code for tokens, which the provider stores. Rejects with `unauthorized`. */
export async function finishAuthorization(name: string, server: ServerConfig, code: string): Promise<void> {
  if (!('url' in server && server.authorization))
    throw new AgentError('config-invalid', `The server ${name} has no authorization to finish.`)
  try {
    await auth(server.authorization as OAuthClientProvider, { serverUrl: server.url, authorizationCode: code })
  } catch (cause) {
    throw new AgentError('unauthorized', `The server ${name} did not take the authorization code: ${reasonOf(cause)}`, {
      cause,
      details: { server: name },
    })
  }
}
