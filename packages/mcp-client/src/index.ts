export { listAll } from './lib/answers/list-all.ts'
export type { Elicitation } from './lib/calls/elicitation.ts'
export { parseConfigText, parseMcpConfig, urlEntrySchema } from './lib/config/mcp-config.ts'
export type {
  OAuthClient,
  OAuthClientMetadata,
  OAuthContext,
  OAuthProvider,
  OAuthTokens,
} from './lib/login/sdk-provider.ts'
export { McpError, type McpErrorCode, reasonOf, sentence } from './lib/mcp-error.ts'
export { openConnection } from './lib/open-connection.ts'
export type {
  ChannelOptions,
  CommandTarget,
  HttpTarget,
  McpConnection,
  ProtocolSupport,
  WaitOptions,
} from './lib/target.ts'
