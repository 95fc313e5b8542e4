import type { ConversationEnvironment } from '@episodic/contexts'
import { isConversation, serveConversations } from '@episodic/contexts/http'
import { createHost, createMetrics, type Host, type Metrics } from '@episodic/mcp-server'
import { type HttpServer, type Rejection, serveHttp } from '@episodic/mcp-server/http'
import { containProcess } from '@episodic/mcp-server/process'
import { serveStdio } from '@episodic/mcp-server/stdio'
import { mcpOptions } from '@episodic/play/worlds/mcp-options'
import { findWorlds } from '@episodic/play/worlds/mcp-world'
import { accessOptions, readAccess } from '@episodic/play/worlds/serve/access-options'
import { joinRoutes } from '@episodic/play/worlds/serve/join-routes'
import { createLog, LOG_LEVELS, type Log } from '@episodic/play/worlds/serve/log'
import { openStore } from '@episodic/play/worlds/serve/open-store'
import {
  disconnectWorker,
  isServerWorker,
  reportListening,
  serveProcesses,
  stopRequested,
} from '@episodic/play/worlds/serve/processes'
import { playSeats, readSeatPolicies } from '@episodic/play/worlds/serve/seat-players'
import { readTaskSession } from '@episodic/play/worlds/serve/served-tasks'
import { controlTokens, sessionHandles } from '@episodic/play/worlds/serve/server-secrets'
import { drain, stopped } from '@episodic/play/worlds/serve/stop'
import {
  checkTrainerEndpoints,
  openEnvUrls,
  openTrainerEndpoints,
  openTrainerPorts,
  type TrainerPorts,
  trainerEndpointOptions,
} from '@episodic/play/worlds/serve/trainer-endpoints'
import { serveWatched, takeOver } from '@episodic/play/worlds/serve/watch'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import { type Console, colorsOf } from '@episodic/run/base/console'
import { invalidOption } from '@episodic/run/base/harness-error'
import { callRate, callRateSchema, named, nonEmpty, wholeNumber } from '@episodic/run/base/option-values'
import { flag, option, toWords } from '@episodic/run/base/options'
import { z } from 'zod'
import { defineCommand } from '../define-command.ts'

const serveOptions = z.object({
  port: option('<port>', 'port to listen on; 0 for a free one', wholeNumber(0, 65_535).default(7337)),
  address: option(
    '<address>',
    'address to listen on; other than loopback requires --agent-token',
    z.string().default('127.0.0.1'),
  ),
  stdio: flag('serve over standard input and output instead of HTTP'),
  trainer: flag('with --stdio: serve the trainer endpoint on the pipe instead of the agent endpoint'),
  task: option(
    '<file>',
    'serve one session, of the only task in this file, at /mcp; episodic sessions close ends it and says what it earned',
    nonEmpty.optional(),
  ),
  store: option(
    '<store>',
    'where sessions are stored: memory, sqlite:<file>, or redis://<host>:<port>',
    z.string().default('memory'),
  ),
  durability: option(
    '<level>',
    'what an answered step survives, with sqlite: a crash of the process, or a power loss',
    z.enum(['process', 'power']).default('process'),
  ),
  processes: option(
    '<count>',
    'processes behind the port; more than one requires redis',
    wholeNumber(1, 256).default(1),
  ),
  watch: flag('serve the rules anew when the files of a world change; sessions of a version that stays go on'),
  sessions: option('<count>', 'maximum number of sessions', wholeNumber(1).default(10_000)),
  sessionsPerPrincipal: option('<count>', 'maximum sessions of one principal', wholeNumber(1).optional()),
  idle: option('<seconds>', 'seconds after its last call when a session expires', wholeNumber(1).default(900)),
  hold: option(
    '<seconds>',
    'how long the answer to a player is held while other seats move, at most; ?hold= of a URL comes first',
    wholeNumber(0, 300).default(20),
  ),
  seat: option(
    '<seat=policy>',
    'play this seat of all sessions by a policy: random, solver, llm:<model> or another; repeatable',
    z.record(z.string(), z.string()).optional(),
    { text: named },
  ),
  logBytes: option(
    '<count>',
    "maximum bytes of a session's step log; then it accepts no more steps",
    wholeNumber(1).default(67_108_864),
  ),
  connections: option('<count>', 'maximum connections per process', wholeNumber(1).default(10_000)),
  rate: option(
    '<calls/seconds>',
    'rate limit per client of the agent endpoint and process; more calls get 429',
    callRateSchema.default({ calls: 1_000, seconds: 10 }),
    { text: callRate },
  ),
  ...mcpOptions.shape,
  server: option('<name>', 'the server of --mcp-config to serve'),
  ...accessOptions.shape,
  ...trainerEndpointOptions.shape,
  logLevel: option('<level>', 'log level on standard error', z.enum(LOG_LEVELS).default('info')),
  json: flag('print one line of JSON when it listens, and stop when standard input ends'),
  /** Keeps the token out of files: the caller reads it from the line of `--json`. */
  private: flag('with --json: print the control token, and keep it in no file', { isHidden: true }),
})
type ServeOptions = z.infer<typeof serveOptions>

export const command = defineCommand('serve', serveOptions, {
  argument: ['[world...]', 'names, paths or packages; /mcp serves the first'],
  help: `
Examples:
  episodic serve number-guessing
  episodic serve number-guessing --store sqlite:sessions.db
  episodic serve ./my-world.ts --watch
  episodic serve number-guessing --store redis://127.0.0.1:6379 --processes 4
  episodic serve kuhn-poker --seat second=solver
  episodic serve number-guessing --task task.jsonl
  episodic serve number-guessing --openenv
  episodic serve number-guessing --nemo-gym-port 8001
  episodic serve number-guessing --ors-port 8080 --tasks tasks.jsonl
  episodic serve ./my-world.ts --stdio
  episodic serve --mcp 'npx -y @playwright/mcp --headless' --score score.ts
  episodic serve ./my-world.ts --rate 20/1

EPISODIC_CONTROL_TOKEN sets the operator's token for the trainer endpoint.
By default it is random, and kept in a file that other commands find.`,
  async run(named: string[], options, console, { parent }) {
    const worlds = await findWorlds(named, { ...options, tasks: undefined })
    checkTrainerEndpoints(options, options)
    checkTask(options)
    checkWatch(options)
    return (options.processes > 1 || options.watch) && !isServerWorker
      ? serveWithProcesses(worlds, parent?.args ?? [], options, console)
      : serve(worlds, options, console).finally(disconnectWorker)
  },
})

function checkTask({ task, stdio, processes, private: isPrivate }: ServeOptions): void {
  if (task === undefined) return
  const other = stdio ? '--stdio' : processes > 1 ? `--processes ${processes}` : isPrivate ? '--private' : null
  if (other !== null) throw invalidOption(`--task serves one session at the port of one process. Leave ${other} out.`)
}

function checkWatch(options: ServeOptions): void {
  const stays = { stdio: true, processes: true, task: true, openenv: true, nemoGymPort: true, orsPort: true } as const
  const [other] = toWords(serveOptions.pick(stays), options)
  if (options.watch && other !== undefined)
    throw invalidOption(`--watch replaces the process of a server, and ${other} needs one that stays. Leave one out.`)
}

/** Serves with processes that run this same command: several at once, or one after the other. */
async function serveWithProcesses(
  references: string[],
  args: readonly string[],
  options: ServeOptions,
  console: Console,
): Promise<void> {
  const worlds = await Promise.all(references.map((reference) => loadWorld(reference)))
  for (const { environment } of worlds)
    if (environment.guarantees?.delivery === 'at-most-once' && !options.watch)
      throw invalidOption(
        `${environment.name} keeps a part of each session in the process that plays it, and any of several processes may get the next call. Leave --processes out.`,
      )
  const stop = stopped(options.json === true)
  const log = createLog(console.err, options.logLevel)
  await using serving = options.watch
    ? await serveWatched(args, worlds, options, (line) => void console.err.write(`${line}\n`))
    : await serveProcesses(args, options, (ended) => log.warn(ended, 'a server process ended and is replaced'))
  await announce(serving, worlds, options, console, stop)
}

async function serve(references: string[], options: ServeOptions, console: Console): Promise<void> {
  const log = createLog(console.err, options.logLevel)
  const metrics = createMetrics(isServerWorker ? { process: String(process.pid) } : {})
  using containment = containProcess({
    onStray({ kind, cause: err }) {
      metrics.stray(kind)
      log.error({ kind, err }, 'a failure outside any session')
    },
  })
  const worlds = await Promise.all(references.map((reference) => loadWorld(reference)))
  if (options.watch) await takeOver(worlds)
  const policies = await readSeatPolicies(options.seat ?? {}, worlds)
  await using store = await openStore(options)
  await using host = createHost({
    environments: worlds.map(({ environment }) => environment),
    store,
    bounds: {
      sessions: options.task === undefined ? options.sessions : 1,
      idleSeconds: options.idle,
      waitSeconds: options.hold,
      logBytes: options.logBytes,
      ...(options.sessionsPerPrincipal && { sessionsPerPrincipal: options.sessionsPerPrincipal }),
    },
    metrics,
    containment,
    reservedSeats: Object.fromEntries(Object.entries(policies).map(([name, own]) => [name, Object.keys(own)])),
    onFault: ({ cause: err, ...fault }) => log.error({ ...fault, err }, 'an environment failed'),
    onLeft: ({ environment, session, step: { report } }) =>
      log.info({ environment, session, terms: report.terms, success: report.success }, 'judged what a player left'),
  })
  await using _players = options.seat
    ? await playSeats(host, policies, {
        onFailed: ({ cause: err, ...seat }) => log.error({ ...seat, err }, 'a seat could not be played'),
      })
    : null
  if (options.stdio) await servePipe(host, options, log)
  else await listen(host, worlds, options, { log, metrics }, console)
}

async function servePipe(host: Host, options: ServeOptions, log: Log): Promise<void> {
  const stop = new AbortController()
  process.once('SIGTERM', () => stop.abort())
  // Ctrl-C reaches all processes of a terminal. The client at the other end of the pipe decides when to stop.
  if (!process.stdin.isTTY) process.on('SIGINT', () => {})
  const endpoint = options.trainer ? 'trainer' : 'agent'
  await serveStdio(host, { endpoint, onError: errorTo(log), signal: stop.signal })
}

async function listen(
  host: Host,
  worlds: readonly World[],
  options: ServeOptions,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
  console: Console,
): Promise<void> {
  const { EPISODIC_CONTROL_TOKEN: controlToken } = process.env
  const { auth, allow } = await readAccess(options)
  for (const token of [...Object.keys(auth.agentTokens ?? {}), ...Object.keys(auth.controlTokens ?? {})])
    log.hide(token)
  const watched = { metrics, onError: errorTo(log), onRejected: logRejection(log) }
  const onError = errorTo(log)
  const conversations = conversationsOf(worlds)
  const routes = [
    ...(conversations.length > 0 ? [serveConversations(host, conversations, { onError })] : []),
    ...(await openTrainerEndpoints(host, worlds, options, onError)),
  ]
  await using server = await serveHttp(host, {
    ...(routes.length > 0 && { extraRoutes: joinRoutes(routes) }),
    session: options.task === undefined ? undefined : await readTaskSession(worlds, options.task),
    port: options.port,
    address: options.address,
    auth: { ...auth, ...(controlToken && { controlToken }) },
    allow,
    limits: { connections: options.connections, rate: options.rate },
    ...watched,
  })
  log.hide(server.controlToken)
  await using ports = await openTrainerPorts(host, worlds, options, {
    address: options.address,
    auth: { ...auth, controlToken: server.controlToken },
    allow,
    connections: options.connections,
    ...watched,
  })
  const serving = { ...server, ...ports.origins }
  // Handle signals before the server is announced.
  const stop = isServerWorker ? stopRequested() : stopped(options.json === true)
  log.info({ agentUrl: server.agentUrl, trainerUrl: server.trainerUrl }, 'listening')
  if (isServerWorker) {
    reportListening(server)
    await stop
  } else await announce(serving, worlds, options, console, stop)
  await drain([server, ports], log)
}

function errorTo(log: Log): (error: { readonly reference: string; readonly cause: unknown }) => void {
  return ({ reference, cause: err }) => log.error({ reference, err }, 'the server failed')
}

/** Wrong tokens and unknown sessions are logged as `info`, other rejections as `debug`. */
function logRejection(log: Log): (rejection: Rejection) => void {
  return (rejection) =>
    log[['http-401', 'session-not-found'].includes(rejection.code) ? 'info' : 'debug'](rejection, 'refused')
}

type Listening = Pick<HttpServer, 'port' | 'controlToken' | 'agentUrl' | 'trainerUrl'> &
  Partial<Pick<HttpServer, 'session'> & TrainerPorts['origins']>

/**
 * Prints the addresses and waits until it is time to stop. Meanwhile the token is in a file that other commands find.
 */
async function announce(
  { port, controlToken, session = null, agentUrl, trainerUrl, nemoGymUrl = null, orsUrl = null }: Listening,
  worlds: readonly World[],
  options: ServeOptions,
  console: Console,
  stop: Promise<void>,
): Promise<void> {
  try {
    if (session) await sessionHandles.write(port, session.session)
    const shown = options.private ? { controlToken } : { tokenFile: await controlTokens.write(port, controlToken) }
    const addresses = {
      agentUrl,
      trainerUrl,
      webSocketUrl: trainerUrl.replace(/^http/, 'ws'),
      conversationUrls: conversationsOf(worlds).map(({ name }) => new URL(`/conversations/${name}`, agentUrl).href),
      openEnvUrls: openEnvUrls(worlds, options, trainerUrl),
      nemoGymUrl,
      orsUrl,
      ...shown,
    }
    console.out.write(options.json ? `${JSON.stringify(addresses)}\n` : welcome(worlds, addresses, console))
    await stop
  } finally {
    if (!options.private) controlTokens.remove(port)
    if (session) sessionHandles.remove(port)
    // An open standard input would keep the process alive.
    process.stdin.pause()
  }
}

interface Addresses extends Record<'agentUrl' | 'trainerUrl' | 'webSocketUrl', string> {
  readonly conversationUrls: readonly string[]
  readonly openEnvUrls: readonly string[]
  readonly nemoGymUrl: string | null
  readonly orsUrl: string | null
  readonly tokenFile?: string
}

function welcome(worlds: readonly World[], addresses: Addresses, console: Console): string {
  const { agentUrl, trainerUrl, webSocketUrl, nemoGymUrl, orsUrl, tokenFile } = addresses
  const { bold, cyan, dim } = colorsOf(console.out)
  const served = worlds.map(
    ({ environment: { name, version, description } }, i) =>
      `  ${bold(name)} ${dim(version)}  ${description}  ${cyan(i === 0 ? agentUrl : `${agentUrl}/e/${name}`)}`,
  )
  const people = addresses.conversationUrls.map((url) => `  for people      ${cyan(url)}\n`)
  const trainers = [
    ...addresses.openEnvUrls.map((url) => `  for OpenEnv     ${cyan(url)}\n`),
    ...(nemoGymUrl ? [`  for NeMo Gym    ${cyan(nemoGymUrl)}\n`] : []),
    ...(orsUrl ? [`  for ORS         ${cyan(orsUrl)}\n`] : []),
  ]
  return `Serving
${served.join('\n')}

${people.join('')}  for agents      ${cyan(agentUrl)}
  trainer endpoint    ${cyan(trainerUrl)}   ${tokenFile === undefined ? '' : dim(`control token in ${tokenFile}`)}
                  ${cyan(webSocketUrl)}
${trainers.join('')}
Try:  episodic play --url ${trainerUrl}
      npx @modelcontextprotocol/inspector --cli ${agentUrl} --transport http --method tools/list
Ctrl-C stops.
`
}

function conversationsOf(worlds: readonly World[]): readonly ConversationEnvironment[] {
  return worlds.map(({ environment }) => environment).filter(isConversation)
}
