import { ServerError } from '@episodic/mcp-server'
import type { EpisodeServer } from './episode-server.ts'

/** The servers of the sessions that this process plays. */
export class EpisodeServers {
  readonly #servers = new Map<string, Promise<EpisodeServer>>()

  /**
   * Returns the server of a session, which has answered so many calls of the player. Starts one for a session that has
   * not called yet. Rejects with `session-lost` if there is none of that history.
   */
  async of(session: string, calls: number, start: () => Promise<EpisodeServer>): Promise<EpisodeServer> {
    let starting = this.#servers.get(session)
    if (!starting && calls === 0) {
      starting = start()
      this.#servers.set(session, starting)
      starting.catch(() => this.#servers.delete(session))
    }
    const server = await starting
    if (server?.transcript.length === calls) return server
    await this.release(session)
    throw new ServerError(
      'session-lost',
      'The MCP server of this session is gone: another process has played the session so far, or a call of it was not recorded.',
    )
  }

  /** Closes the server of a session, if there is one. */
  async release(session: string): Promise<void> {
    const starting = this.#servers.get(session)
    this.#servers.delete(session)
    const server = await starting?.catch(() => null)
    await server?.close()
  }
}
