/**
 * What obtains and stores the tokens for one server, as the MCP SDK has it: also its providers for client credentials
 * and private keys.
 *
 * A session reads `tokens` before each request and renews them when the server rejects them. It redirects the user
 * agent only if nothing else works; pass the code of the redirect to `finishAuthorization`.
 */
export type {
  OAuthClientInformationContext as OAuthContext,
  OAuthClientMetadata,
  OAuthClientProvider as OAuthProvider,
  StoredOAuthClientInformation as OAuthClient,
  StoredOAuthTokens as OAuthTokens,
} from '@modelcontextprotocol/client'
