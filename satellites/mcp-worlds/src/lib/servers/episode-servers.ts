import { ServerError } from '@episodic/mcp-server'
import type { EpisodeServer } from './episode-server.ts'
import { NO_CALLS } from './trail.ts'

export class EpisodeServers {
  readonly #servers = new Map<string, Promise<EpisodeServer>>()

  /**
   * Returns the server of a session, which has answered the calls of that trail. Starts one for a session that has not
   * called yet, and with `restarts` for any. Rejects with `session-lost` if there is none of that history.
   */
  async of(
    session: string,
    trail: string,
    start: () => Promise<EpisodeServer>,
    restarts = false,
  ): Promise<EpisodeServer> {
    if (restarts && (await this.#servers.get(session)?.catch(() => null))?.trail !== trail) await this.release(session)
    let starting = this.#servers.get(session)
    if (!starting && (restarts || trail === NO_CALLS)) {
      starting = start()
      this.#servers.set(session, starting)
      starting.catch(() => this.#servers.delete(session))
    }
    const server = await starting
    if (server?.trail === trail) return server
    await this.release(session)
    throw new ServerError(
      'session-lost',
      'The MCP server of this session is gone: another process has played the session so far, or a call of it was not recorded.',
    )
  }

  async release(session: string): Promise<void> {
    const starting = this.#servers.get(session)
    this.#servers.delete(session)
    const server = await starting?.catch(() => null)
    await server?.close()
  }
}
