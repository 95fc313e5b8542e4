/**
 * What completes a login, by the MCP SDK.
 *
 * @module
 */

export { finishAuthorization } from './lib/login/sdk-authorization.ts'
