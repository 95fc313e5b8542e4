import type { IncomingMessage } from 'node:http'
import type { Host } from '@episodic/mcp-server'
import { type RoutesOptions, type RoutesServer, serveRoutes } from '@episodic/mcp-server/http'
import type { Task } from '@episodic/protocol'
import type { RewardMode } from '../episode/reward-mode.ts'
import { createAppRoutes } from '../http/app-routes.ts'
import { createTaskIndex } from '../tasks/task-index.ts'
import { createOrsSessions } from './ors-sessions.ts'
import { createOrsRoutes } from './routes.ts'

export interface OrsOptions extends Omit<RoutesOptions, 'asksTokens'> {
  /** The tasks that clients list and open, kept in memory. Default: none; a client can still send rows of its own. */
  readonly tasks?: readonly Task[]
  /** What a step reports as its reward; `return` for clients that score the last one alone. Default `steps`. */
  readonly rewards?: RewardMode
  /**
   * Whether a call is played only once its client has repeated it with the id from the first event of its stream, so
   * that no fault plays it twice. The clients wait half a second before they repeat it, so each call takes as much
   * longer. Default `false`.
   */
  readonly confirmsCalls?: boolean
  /** Largest request body in bytes. Default 1 MiB. */
  readonly bodyBytes?: number
}

/**
 * Serves a host to clients of the Open Reward Standard, on a port of its own because their paths start at the root.
 * They send a control token as `X-API-Key` or as a bearer token. Throws as `serveRoutes` does.
 */
export async function serveOrs(host: Host, options: OrsOptions = {}): Promise<RoutesServer> {
  const { tasks = [], rewards = 'steps', confirmsCalls = false, bodyBytes = 1_048_576, ...port } = options
  const { onError = () => {} } = port
  const sessions = createOrsSessions(host, { rewards, confirmsCalls })
  const app = createOrsRoutes({ host, tasks: createTaskIndex(tasks), sessions, bodyBytes, onError })
  return serveRoutes(host, createAppRoutes(app, { owns: () => true, tokenOf: readApiKey, onError }), port)
}

function readApiKey({ headers }: IncomingMessage): string | null {
  const key = headers['x-api-key']
  return typeof key === 'string' ? key : null
}
