import type { ServerResponse } from 'node:http'
import type { Host } from '@episodic/mcp-server'
import { type EnvironmentInfo, type JsonObject, WireError } from '@episodic/protocol'
import { randomText, WIRE_VERSION } from '@episodic/protocol/internal'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context, Hono } from 'hono'
import { type InternalError, problemOf } from '../http/problem.ts'
import { RequestProblem } from '../http/request-problem.ts'
import { createTrainerApp, readObject, type TrainerRoute, trainersOnly } from '../http/trainer-app.ts'
import { listSplits, rowOf, TASK_ROUTES, type TaskIndex } from '../tasks/task-index.ts'
import { createCallStream, keepAliveDuring } from './call-stream.ts'
import { openEventStream } from './event-stream.ts'
import type { OrsSession } from './ors-session.ts'
import type { Creation, OrsSessions } from './ors-sessions.ts'
import { type CreateRequest, parseCallRequest, parseCreateRequest } from './requests.ts'

export interface OrsParts {
  readonly host: Host
  readonly tasks: TaskIndex
  readonly sessions: OrsSessions
  readonly bodyBytes: number
  readonly onError: (error: InternalError) => void
}

type Route = Context<TrainerRoute>

/**
 * Creates the routes of the Open Reward Standard. A path about an environment starts with its name; without a name it
 * is about the first one. A path has as many segments as it has names, so an environment may be named like a route.
 */
export function createOrsRoutes({ host, tasks, sessions, bodyBytes, onError }: OrsParts): Hono<TrainerRoute> {
  const app = createTrainerApp({ bodyBytes, onError })
  app.get('/health', (route) => route.json({ status: 'ok' }))
  app.use(trainersOnly)
  const named = (name: string): EnvironmentInfo => {
    const environment = host.environments.find((served) => served.name === name.toLowerCase())
    if (environment) return environment
    const served = host.environments.map((environment) => environment.name).join(', ')
    throw new WireError('unknown-environment', `There is no environment "${name}" here. There is: ${served}.`)
  }
  const [first] = host.environments as [EnvironmentInfo]
  const aboutEnvironment = (
    method: 'GET' | 'POST',
    path: string,
    answer: (route: Route, environment: EnvironmentInfo) => Response | Promise<Response>,
  ) => {
    app.on(method, path, (route) => answer(route, first))
    app.on(method, `/:environment${path}`, (route) => answer(route, named(route.req.param('environment') ?? '')))
  }
  const sessionOf = async (route: Route): Promise<OrsSession> => {
    const session = await sessions.find(route.get('principal'), sessionId(route))
    const name = route.req.param('environment')
    if (name !== undefined) assertPlays(session, named(name))
    return session
  }

  app.get('/version', (route) => route.json({ version: WIRE_VERSION, build_sha: null }))
  app.get('/list_environments', (route) => route.json(host.environments.map(({ name }) => name)))
  app.post('/create_session', (route) => {
    const headers = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' }
    return route.body(`event: task_id\ndata: ${randomText()}\n\nevent: end\ndata: \n\n`, 200, headers)
  })
  app.post('/create', async (route) => {
    const id = sessionId(route)
    await sessions.create(route.get('principal'), id, creationOf(parseCreateRequest(await readObject(route))))
    return route.json({ sid: id })
  })
  app.post('/ping', async (route) => {
    await (await sessionOf(route)).touch()
    return route.json({ status: 'ok' })
  })
  for (const path of ['/delete', '/delete_session'])
    app.post(path, async (route) => {
      const id = sessionId(route)
      await sessions.delete(route.get('principal'), id)
      return route.json({ sid: id })
    })

  aboutEnvironment('GET', '/splits', (route, { name }) => route.json(listSplits(tasks, name)))
  for (const [path, answer] of Object.entries(TASK_ROUTES))
    aboutEnvironment('POST', `/${path}`, async (route, { name }) => {
      const body = await readObject(route)
      return route.json(inRange(() => answer(tasks, name, body)))
    })
  aboutEnvironment('GET', '/tools', (route, environment) => route.json(toolListOf(environment)))
  aboutEnvironment('GET', '/task_tools', async (route) => route.json(toolListOf(await (await sessionOf(route)).info())))
  aboutEnvironment('GET', '/prompt', async (route) => route.json(promptOf(await sessionOf(route))))
  aboutEnvironment('GET', '/messages', async (route) =>
    route.json([{ role: 'user', blocks: promptOf(await sessionOf(route)), detail: null }]),
  )
  aboutEnvironment('POST', '/score_group', () => {
    throw new RequestProblem(404, 'No environment here scores groups: each step is rewarded by itself.')
  })
  aboutEnvironment('POST', '/call', async (route) => {
    const request = parseCallRequest(await readObject(route))
    const session = await sessionOf(route)
    await session.touch()
    const stream = openEventStream(route.env.outgoing as ServerResponse)
    try {
      await keepAliveDuring(stream, session.call(request, createCallStream(stream)))
    } catch (error) {
      // Not every client reads an event of several lines.
      await stream.send('error', problemOf(error, onError).message.replaceAll(/\n\s*/g, ' '))
    }
    stream.end()
    return RESPONSE_ALREADY_SENT
  })
  return app

  function creationOf({ env_name, task_spec, split, index, toolset_name }: CreateRequest): Creation {
    if (typeof toolset_name === 'string')
      throw new RequestProblem(400, `There is no toolset "${toolset_name}" here: an environment has its own tools.`)
    const name = env_name ?? task_spec?.environment ?? first.name
    const environment = named(name)
    if (!task_spec)
      return { environment, row: rowOf(inRange(() => tasks.task(environment.name, split, index))) as JsonObject }
    const { environment: played = environment.name } = task_spec
    if (played !== null && played !== environment.name)
      throw new RequestProblem(400, `This task is for ${played}, and the session is for ${environment.name}.`)
    return { environment, row: task_spec }
  }
}

function sessionId({ req }: Route): string {
  const id = req.header('x-session-id')?.trim()
  if (id) return id
  throw new RequestProblem(400, 'Send the header X-Session-ID with the id that /create_session gave.')
}

/**
 * ors-sdk names no environment if it opens a session by split and index, which then is one of the first environment. It
 * names one in its next request, so that it need not find out from the rewards.
 */
function assertPlays({ environment }: OrsSession, { name }: EnvironmentInfo): void {
  if (environment.name === name) return
  throw new RequestProblem(
    400,
    `This session plays ${environment.name}, not ${name}. Open it with a task of ${name}, or name the environment in /create.`,
  )
}

function promptOf({ prompt }: OrsSession): NonNullable<OrsSession['prompt']> {
  if (prompt) return prompt
  throw new RequestProblem(404, 'This session was opened before the server was restarted, and its prompt is not kept.')
}

/** The clients know an unknown split and an index out of range as 400. */
function inRange<T>(find: () => T): T {
  try {
    return find()
  } catch (error) {
    if (WireError.is(error, 'invalid-params')) throw new RequestProblem(400, error.message)
    throw error
  }
}

function toolListOf({ tools }: EnvironmentInfo) {
  return {
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    // One that takes the model's last message. No environment here has one.
    terminal_tool: null,
    supports_score_group: false,
    message_block_types: ['text'],
  }
}
