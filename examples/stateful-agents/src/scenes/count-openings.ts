import type { McpSessions } from '@episodic/agent'

/** Sessions, with a count of those that were ever opened. */
export interface CountedSessions extends McpSessions {
  /** A shared session counts once. */
  readonly opened: number
}

export function countOpenings(sessions: McpSessions): CountedSessions {
  const shared = new Set<string>()
  let own = 0
  return {
    servers: sessions.servers,
    get size() {
      return sessions.size
    },
    get opened() {
      return own + shared.size
    },
    open(server, options = {}) {
      if (options.shareAs === undefined) own += 1
      else shared.add(options.shareAs)
      return sessions.open(server, options)
    },
    finishAuthorization: (server, code) => sessions.finishAuthorization(server, code),
    close: () => sessions.close(),
    [Symbol.asyncDispose]: () => sessions.close(),
  }
}
