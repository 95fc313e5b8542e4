import { type Host, ServerError } from '@episodic/mcp-server'
import type { ExtraRoutes } from '@episodic/mcp-server/http'
import { type EnvironmentInfo, type Task, WireError } from '@episodic/protocol'
import { type Context, Hono } from 'hono'
import type { RewardMode } from '../episode/reward-mode.ts'
import { createAppRoutes } from '../http/app-routes.ts'
import type { InternalError } from '../http/problem.ts'
import { createTrainerApp, readObject, type TrainerRoute, trainersOnly, UNAUTHENTICATED } from '../http/trainer-app.ts'
import { createTaskIndex } from '../tasks/task-index.ts'
import { PREFIX, parseAddress } from './address.ts'
import { rpcError } from './errors.ts'
import { reset, step } from './frames.ts'
import { answerRpc } from './json-rpc.ts'
import { openApiOf, schemasOf } from './schemas.ts'
import type { OpenEnvSession } from './session.ts'
import { createOpenEnvSessions } from './sessions.ts'
import { createOpenEnvSockets } from './sockets.ts'
import { taskRoutes } from './task-routes.ts'

export interface OpenEnvOptions {
  /** What a step reports as its reward. Default `steps`. */
  readonly rewards?: RewardMode
  /** The tasks that clients can list, of all environments. Default: none. */
  readonly tasks?: readonly Task[]
  /** Sessions of OpenEnv at once: those of WebSockets and those of `/mcp`. Default 10,000. */
  readonly sessions?: number
  /** Largest request body or frame, in bytes. Default 1 MiB. */
  readonly bodyBytes?: number
  /** Is called with every internal error, with the reference that the client received. */
  readonly onError?: (error: InternalError) => void
}

/** Names of tools that OpenEnv keeps for itself. */
const RESERVED = ['reset', 'step', 'state', 'close']

/**
 * Creates the extra routes of `serveHttp` that serve every environment of a host to clients of OpenEnv, at
 * `/openenv/<environment>`. A client that cannot send headers uses `/openenv/token/<token>/<environment>`.
 *
 * Rewards cross this endpoint, so it needs a token of the trainer endpoint; only what describes an environment is open
 * to everyone. Throws `option-invalid` for an environment with a tool whose name OpenEnv reserves.
 */
export function openEnvRoutes(host: Host, options: OpenEnvOptions = {}): ExtraRoutes {
  const { rewards = 'steps', tasks = [], sessions: limit = 10_000, bodyBytes = 1_048_576, onError = () => {} } = options
  for (const info of host.environments) assertServable(info)
  const worlds = new Map(host.environments.map((info) => [info.name, info]))
  const settingOf = (info: EnvironmentInfo, principal: string | null) => ({ host, info, principal, rewards })
  const sessions = createOpenEnvSessions({
    limit,
    limitPerPrincipal: host.sessionsPerPrincipal,
    idleSeconds: host.idleSeconds,
    onError: (cause) => onError({ reference: 'openenv', cause }),
  })
  const find = (name: string) => worlds.get(name)
  const sockets = createOpenEnvSockets({ sessions, find, settingOf, frameBytes: bodyBytes, onError })

  const infoOf = (context: Context): EnvironmentInfo => {
    const info = find(context.req.param('world') ?? '')
    if (info) return info
    throw new WireError('unknown-environment', 'There is no environment of this name here.')
  }
  const once = async (context: Context<TrainerRoute>, call: (session: OpenEnvSession) => Promise<object>) =>
    context.json(await sessions.once(settingOf(infoOf(context), context.get('principal')), call))

  const world = new Hono<TrainerRoute>()
  world.get('/health', (context) => context.json({ status: infoOf(context) && 'healthy' }))
  world.get('/metadata', (context) => {
    const { name, description, version } = infoOf(context)
    return context.json({ name, description, version, readme_content: null, author: null, documentation_url: null })
  })
  world.get('/schema', (context) => context.json(schemasOf(infoOf(context))))
  world.get('/openapi.json', (context) => context.json(openApiOf(infoOf(context))))
  world.get('/list_environments', (context) => context.json([infoOf(context).name]))
  world.post('/mcp', async (context) => {
    const info = infoOf(context)
    const client = await context.env.identify()
    // Its validator, which cannot send a token, wants status 200.
    if ('status' in client || !client.trainer)
      return context.json(rpcError(new WireError('unauthorized', UNAUTHENTICATED.message), null, onError))
    const setting = settingOf(info, client.principal)
    const text = await context.var.bodies.readText(context.env.incoming)
    return context.json(await answerRpc(text, { setting, sessions, session: null, onError }))
  })
  world.post('/reset', trainersOnly, async (context) => {
    const data = await readObject(context)
    return once(context, (session) => reset(data, session))
  })
  world.post('/step', trainersOnly, async (context) => {
    const { action } = await readObject(context)
    return once(context, (session) => step(action, session, { opens: true }))
  })
  world.get('/state', trainersOnly, (context) => once(context, (session) => session.state()))
  world.route('/', taskRoutes(createTaskIndex(tasks)))

  const app = createTrainerApp({ bodyBytes, onError })
  app.route('/openenv/token/:token/:world', world)
  app.route('/openenv/:world', world)
  return createAppRoutes(app, {
    owns: (path) => path.startsWith(PREFIX),
    tokenOf: (_, path) => parseAddress(path)?.token ?? null,
    sockets,
    onEnd: () => sessions.stop(),
    onError,
  })
}

function assertServable({ name, tools }: EnvironmentInfo): void {
  const reserved = tools.find((tool) => RESERVED.includes(tool.name))
  if (!reserved) return
  throw new ServerError(
    'option-invalid',
    `Tool ${reserved.name} of ${name} has a name that OpenEnv keeps for itself. Rename it, or serve ${name} without OpenEnv.`,
  )
}
