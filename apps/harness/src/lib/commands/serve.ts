import { once } from 'node:events'
import { createHost, type Host } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { serveStdio } from '@episodic/mcp-server/stdio'
import type { SessionStore } from '@episodic/state'
import { createMemoryStore } from '@episodic/state/memory'
import { openSqliteStore } from '@episodic/state/sqlite'
import { Command, Option } from 'commander'
import { type Console, colorsOf } from '../console.ts'
import { HarnessError } from '../harness-error.ts'
import { collect, wholeNumber } from '../option-values.ts'
import { removeControlToken, writeControlToken } from '../serve/control-token.ts'
import { loadWorld } from '../world.ts'

interface ServeOptions {
  readonly stdio?: true
  readonly trusted?: true
  readonly port: number
  readonly address: string
  readonly allowHost?: string[]
  readonly allowOrigin?: string[]
  readonly agentToken?: string[]
  readonly store: string
  readonly durability: 'process' | 'power'
  readonly sessions: number
  readonly idle: number
  readonly json?: true
}

export function serveCommand(console: Console): Command {
  return new Command('serve')
    .description('serve worlds over MCP')
    .argument('<world...>', 'names, paths or packages; a plain client plays the first')
    .option('--port <port>', 'port to listen on; 0 takes a free one', wholeNumber(0, 65_535), 7337)
    .option('--address <address>', 'address to listen on; any but loopback wants --agent-token', '127.0.0.1')
    .option('--stdio', "speak over this process's pipes instead of HTTP")
    .option('--trusted', 'with --stdio: open the trusted door on the pipe, not the one for agents')
    .option('--store <store>', 'where sessions live: memory, or sqlite:<file>', 'memory')
    .addOption(
      new Option('--durability <level>', 'what an answered step survives, with sqlite')
        .choices(['process', 'power'])
        .default('process'),
    )
    .option('--sessions <count>', 'sessions kept at once', wholeNumber(1), 10_000)
    .option('--idle <seconds>', 'seconds after its last call until a session expires', wholeNumber(1), 900)
    .option('--agent-token <name=token>', "admit a principal to the agent's door; may be given several times", collect)
    .option('--allow-host <name>', 'serve this Host besides the address; may be given several times', collect)
    .option('--allow-origin <origin>', 'let pages of this origin call, with CORS; may be given several times', collect)
    .option('--json', 'print one line of JSON once it listens, and stop when standard input ends')
    .addHelpText(
      'after',
      `
Examples:
  episodic serve number-guessing
  episodic serve number-guessing --store sqlite:sessions.db
  episodic serve ./my-world.ts --stdio

EPISODIC_CONTROL_TOKEN, where it is set, is the secret of the trusted door.`,
    )
    .action((worlds: string[], options: ServeOptions) => serve(worlds, options, console))
}

async function serve(references: string[], options: ServeOptions, console: Console): Promise<void> {
  const worlds = await Promise.all(references.map((reference) => loadWorld(reference)))
  await using store = openStore(options)
  await using host = createHost({
    environments: worlds.map(({ environment }) => environment),
    store: await store.opened,
    bounds: { sessions: options.sessions, idleSeconds: options.idle },
    onFault: ({ reference, environment, session, cause }) =>
      console.err.write(`fault ${reference} of ${environment}, session ${session}: ${describe(cause)}\n`),
  })
  const onError = ({ reference, cause }: { reference: string; cause: unknown }) =>
    console.err.write(`error ${reference}: ${describe(cause)}\n`)
  if (options.stdio) {
    // A Ctrl-C reaches everything that was started in that terminal. Whoever holds the other end of the pipe decides.
    if (!process.stdin.isTTY) process.on('SIGINT', () => {})
    await serveStdio(host, { door: options.trusted ? 'trusted' : 'agent', onError })
  } else await listen(host, options, onError, console)
}

async function listen(
  host: Host,
  options: ServeOptions,
  onError: (error: { reference: string; cause: unknown }) => void,
  console: Console,
): Promise<void> {
  const { EPISODIC_CONTROL_TOKEN: controlToken } = process.env
  await using server = await serveHttp(host, {
    port: options.port,
    address: options.address,
    allowedHosts: options.allowHost ?? [],
    allowedOrigins: options.allowOrigin ?? [],
    agentTokens: Object.fromEntries((options.agentToken ?? []).map(readAgentToken)),
    onError,
    ...(controlToken && { controlToken }),
  })
  // Listened for before anyone can know that there is something to stop.
  const stop = stopped(options.json === true)
  try {
    const tokenFile = writeControlToken(server.port, server.controlToken)
    const { agentUrl, trustedUrl } = server
    if (options.json) console.out.write(`${JSON.stringify({ agentUrl, trustedUrl, tokenFile })}\n`)
    else console.out.write(welcome(host, server.agentUrl, server.trustedUrl, tokenFile, console))
    await stop
  } finally {
    removeControlToken(server.port)
    // A pipe that is still read would keep the process.
    process.stdin.pause()
  }
}

function welcome(host: Host, agentUrl: string, trustedUrl: string, tokenFile: string, console: Console): string {
  const { bold, cyan, dim } = colorsOf(console.out)
  const worlds = host.environments.map(
    ({ name, version, description }, i) =>
      `  ${bold(name)} ${dim(version)}  ${description}  ${cyan(i === 0 ? agentUrl : `${agentUrl}/e/${name}`)}`,
  )
  return `Serving
${worlds.join('\n')}

  for agents      ${cyan(agentUrl)}
  trusted door    ${cyan(trustedUrl)}   ${dim(`control token in ${tokenFile}`)}

Try:  episodic play --url ${trustedUrl}
      npx @modelcontextprotocol/inspector --cli ${agentUrl} --transport http --method tools/list
Ctrl-C stops.
`
}

/** Resolves at Ctrl-C, at a termination request, or where asked for when whoever started this goes away. */
async function stopped(withInput: boolean): Promise<void> {
  const ends = [once(process, 'SIGINT'), once(process, 'SIGTERM')]
  if (withInput) ends.push(once(process.stdin.resume(), 'end'))
  await Promise.race(ends)
}

/** The store that an option names, closed when the server is done with it. */
function openStore({ store, durability }: ServeOptions): AsyncDisposable & { readonly opened: Promise<SessionStore> } {
  const file = /^sqlite:(.+)$/.exec(store)?.[1]
  if (store !== 'memory' && !file)
    throw new HarnessError('option-invalid', `--store ${store} is not a store. There is: memory, sqlite:<file>.`)
  const opened = file ? Promise.resolve(openSqliteStore(file, { durability })) : Promise.resolve(createMemoryStore())
  return {
    opened,
    async [Symbol.asyncDispose]() {
      await (await opened.catch(() => null))?.[Symbol.asyncDispose]()
    },
  }
}

function readAgentToken(text: string): [token: string, principal: string] {
  const [, principal, token] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (!principal || !token)
    throw new HarnessError('option-invalid', `--agent-token ${text} is not written as name=token.`)
  return [token, principal]
}

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}
