import { createHost, createMetrics, type Host, type Metrics } from '@episodic/mcp-server'
import { type HttpServer, serveHttp } from '@episodic/mcp-server/http'
import { serveStdio } from '@episodic/mcp-server/stdio'
import { Command, Option } from 'commander'
import { type Console, colorsOf } from '../console.ts'
import { wholeNumber } from '../option-values.ts'
import { type AccessFlags, readAccess, withAccessOptions } from '../serve/access-options.ts'
import { removeControlToken, writeControlToken } from '../serve/control-token.ts'
import { createLog, LOG_LEVELS, type Log, type LogLevel } from '../serve/log.ts'
import { openStore } from '../serve/open-store.ts'
import { askedToStop, isOneOfSeveral, leave, serveProcesses, tellListening } from '../serve/processes.ts'
import { drain, stopped } from '../serve/stop.ts'
import { loadWorld, type World } from '../world.ts'

interface ServeOptions extends AccessFlags {
  readonly stdio?: true
  readonly trusted?: true
  readonly port: number
  readonly address: string
  readonly store: string
  readonly durability: 'process' | 'power'
  readonly processes: number
  readonly sessions: number
  readonly sessionsPerPrincipal?: number
  readonly idle: number
  readonly logLevel: LogLevel
  readonly json?: true
}

export function serveCommand(console: Console): Command {
  const command = new Command('serve')
    .description('serve worlds over MCP')
    .argument('<world...>', 'names, paths or packages; a plain client plays the first')
    .option('--port <port>', 'port to listen on; 0 takes a free one', wholeNumber(0, 65_535), 7337)
    .option('--address <address>', 'address to listen on; any but loopback wants --agent-token', '127.0.0.1')
    .option('--stdio', "speak over this process's pipes instead of HTTP")
    .option('--trusted', 'with --stdio: open the trusted door on the pipe, not the one for agents')
    .option('--store <store>', 'where sessions live: memory, sqlite:<file>, or redis://<host>:<port>', 'memory')
    .addOption(
      new Option('--durability <level>', 'what an answered step survives, with sqlite')
        .choices(['process', 'power'])
        .default('process'),
    )
    .option('--processes <count>', 'processes behind the port; more than one want redis', wholeNumber(1, 256), 1)
    .option('--sessions <count>', 'sessions kept at once', wholeNumber(1), 10_000)
    .option('--sessions-per-principal <count>', 'of these, sessions of one principal', wholeNumber(1))
    .option('--idle <seconds>', 'seconds after its last call until a session expires', wholeNumber(1), 900)
  return withAccessOptions(command)
    .addOption(new Option('--log-level <level>', 'what is told on standard error').choices(LOG_LEVELS).default('info'))
    .option('--json', 'print one line of JSON once it listens, and stop when standard input ends')
    .addHelpText(
      'after',
      `
Examples:
  episodic serve number-guessing
  episodic serve number-guessing --store sqlite:sessions.db
  episodic serve number-guessing --store redis://127.0.0.1:6379 --processes 4
  episodic serve ./my-world.ts --stdio

EPISODIC_CONTROL_TOKEN, where it is set, is the operator's secret at the
trusted door.`,
    )
    .action((worlds: string[], options: ServeOptions, { parent }: Command) =>
      options.processes > 1 && !isOneOfSeveral
        ? serveBySeveral(worlds, parent?.args ?? [], options, console)
        : serve(worlds, options, console).finally(leave),
    )
}

/** Serves by several processes, each of which runs this very command. */
async function serveBySeveral(
  references: string[],
  args: readonly string[],
  options: ServeOptions,
  console: Console,
): Promise<void> {
  const worlds = await Promise.all(references.map((reference) => loadWorld(reference)))
  const stop = stopped(options.json === true)
  const log = createLog(console.err, options.logLevel)
  await using serving = await serveProcesses(args, options, (ended) =>
    log.warn(ended, 'a server process ended, and another takes its place'),
  )
  await announce(serving, worlds, options, console, stop)
}

async function serve(references: string[], options: ServeOptions, console: Console): Promise<void> {
  const worlds = await Promise.all(references.map((reference) => loadWorld(reference)))
  await using store = await openStore(options)
  const log = createLog(console.err, options.logLevel)
  const metrics = createMetrics(isOneOfSeveral ? { process: String(process.pid) } : {})
  await using host = createHost({
    environments: worlds.map(({ environment }) => environment),
    store,
    bounds: {
      sessions: options.sessions,
      idleSeconds: options.idle,
      ...(options.sessionsPerPrincipal && { sessionsPerPrincipal: options.sessionsPerPrincipal }),
    },
    metrics,
    onFault: ({ cause: err, ...fault }) => log.error({ ...fault, err }, 'an environment failed'),
  })
  if (options.stdio) await servePipe(host, options, log)
  else await listen(host, worlds, options, { log, metrics }, console)
}

async function servePipe(host: Host, options: ServeOptions, log: Log): Promise<void> {
  const stop = new AbortController()
  process.once('SIGTERM', () => stop.abort())
  // A Ctrl-C reaches everything that was started in that terminal. Whoever holds the other end of the pipe decides.
  if (!process.stdin.isTTY) process.on('SIGINT', () => {})
  const door = options.trusted ? 'trusted' : 'agent'
  await serveStdio(host, { door, onError: errorTo(log), signal: stop.signal })
}

async function listen(
  host: Host,
  worlds: readonly World[],
  options: ServeOptions,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
  console: Console,
): Promise<void> {
  const { EPISODIC_CONTROL_TOKEN: controlToken } = process.env
  const access = await readAccess(options)
  for (const token of [...Object.keys(access.agentTokens ?? {}), ...Object.keys(access.controlTokens ?? {})])
    log.hide(token)
  await using server = await serveHttp(host, {
    port: options.port,
    address: options.address,
    ...access,
    metrics,
    onError: errorTo(log),
    // Whoever knocks with a wrong token or at somebody else's session is worth a line.
    onRefusal: (refusal) =>
      log[['http-401', 'session-not-found'].includes(refusal.code) ? 'info' : 'debug'](refusal, 'refused'),
    ...(controlToken && { controlToken }),
  })
  log.hide(server.controlToken)
  // Listened for before anyone can know that there is something to stop.
  const stop = isOneOfSeveral ? askedToStop() : stopped(options.json === true)
  log.info({ agentUrl: server.agentUrl, trustedUrl: server.trustedUrl }, 'listening')
  if (isOneOfSeveral) {
    tellListening(server)
    await stop
  } else await announce(server, worlds, options, console, stop)
  await drain(server, log)
}

function errorTo(log: Log): (error: { readonly reference: string; readonly cause: unknown }) => void {
  return ({ reference, cause: err }) => log.error({ reference, err }, 'the server failed')
}

/** Says where to go until it is time to stop. The token lies where its owner's other commands find it. */
async function announce(
  { port, controlToken, agentUrl, trustedUrl }: Pick<HttpServer, 'port' | 'controlToken' | 'agentUrl' | 'trustedUrl'>,
  worlds: readonly World[],
  options: ServeOptions,
  console: Console,
  stop: Promise<void>,
): Promise<void> {
  try {
    const tokenFile = writeControlToken(port, controlToken)
    if (options.json) console.out.write(`${JSON.stringify({ agentUrl, trustedUrl, tokenFile })}\n`)
    else console.out.write(welcome(worlds, agentUrl, trustedUrl, tokenFile, console))
    await stop
  } finally {
    removeControlToken(port)
    // A pipe that is still read would keep the process.
    process.stdin.pause()
  }
}

function welcome(
  worlds: readonly World[],
  agentUrl: string,
  trustedUrl: string,
  tokenFile: string,
  console: Console,
): string {
  const { bold, cyan, dim } = colorsOf(console.out)
  const served = worlds.map(
    ({ environment: { name, version, description } }, i) =>
      `  ${bold(name)} ${dim(version)}  ${description}  ${cyan(i === 0 ? agentUrl : `${agentUrl}/e/${name}`)}`,
  )
  return `Serving
${served.join('\n')}

  for agents      ${cyan(agentUrl)}
  trusted door    ${cyan(trustedUrl)}   ${dim(`control token in ${tokenFile}`)}

Try:  episodic play --url ${trustedUrl}
      npx @modelcontextprotocol/inspector --cli ${agentUrl} --transport http --method tools/list
Ctrl-C stops.
`
}
