import type { LiveSession } from './live-session.ts'
import type { McpSession } from './mcp-session.ts'
import { sessionError } from './session-errors.ts'

/** Returns the session for one holder. After its `close`, calls reject. */
export function leaseOf(session: LiveSession, sharedAs: string | null, release: () => Promise<void>): McpSession {
  let released: Promise<void> | null = null
  const close = () => {
    released ??= release()
    return released
  }
  // No additional promise, because every call passes here.
  const use = <T>(run: () => Promise<T>): Promise<T> =>
    released ? Promise.reject(sessionError({ server: session.server, health: 'closed', why: '' })) : run()
  return {
    server: session.server,
    sharedAs,
    get protocol() {
      return session.protocol
    },
    get tools() {
      return session.tools
    },
    get health() {
      return released ? 'closed' : session.health
    },
    get idleMilliseconds() {
      return session.idleMilliseconds
    },
    callTool: (name, args, options) => use(() => session.callTool(name, args, options)),
    async checkHealth(options) {
      return released ? 'closed' : session.checkHealth(options)
    },
    refresh: (options) => use(() => session.refresh(options)),
    transaction: (calls, run, options) => use(() => session.transaction(calls, run, options)),
    close,
    [Symbol.asyncDispose]: close,
  }
}
