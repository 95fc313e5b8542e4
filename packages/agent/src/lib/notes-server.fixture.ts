// An MCP server whose every session has state of its own: `node notes-server.fixture.ts stdio`, or `… http <port>`.
// Environment: WITHOUT=<tool> leaves a tool out, TOKEN=<token> wants one, LEDGER=<file> keeps what is committed.
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

const [kind = 'stdio', port = '0'] = process.argv.slice(2)
const { WITHOUT, TOKEN, LEDGER, SWALLOW } = process.env

/** One session. `expire` ends it as an idle time-out would. */
function createNotes(expire: () => void): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  const notes = new Map<string, string>()
  let count = 0
  let pending: string[] | null = null
  const say = (text: string, isError = false) => ({ content: [{ type: 'text' as const, text }], isError })
  const tools: Record<string, () => void> = {
    count: () => server.registerTool('count', { description: 'Counts.' }, () => say(String(++count))),
    read: () =>
      server.registerTool('read', { description: 'Reads the count.', annotations: { readOnlyHint: true } }, () =>
        say(String(count)),
      ),
    put: () =>
      server.registerTool(
        'put',
        {
          description: 'Keeps a note.',
          inputSchema: { key: z.string(), value: z.string() },
          annotations: { idempotentHint: true },
        },
        ({ key, value }) => {
          notes.set(key, value)
          return say('kept')
        },
      ),
    get: () =>
      server.registerTool(
        'get',
        { description: 'Gives a note.', inputSchema: { key: z.string() }, annotations: { readOnlyHint: true } },
        ({ key }) => (notes.has(key) ? say(notes.get(key)!) : say(`There is no note ${key}.`, true)),
      ),
    sum: () =>
      server.registerTool(
        'sum',
        {
          description: 'Adds.',
          inputSchema: { a: z.number(), b: z.number() },
          outputSchema: { sum: z.number() },
        },
        ({ a, b }) => ({ content: [], structuredContent: { sum: a + b } }),
      ),
    picture: () =>
      server.registerTool('picture', { description: 'Gives a picture.' }, () => ({
        content: [
          { type: 'text', text: 'a dot' },
          { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
        ],
      })),
    where: () => server.registerTool('where', { description: 'Gives the process.' }, () => say(String(process.pid))),
    hang: () =>
      server.registerTool('hang', { description: 'Never answers.' }, () => {
        if (kind === 'http') process.stdout.write('hanging 1\n')
        return new Promise(() => {})
      }),
    look: () =>
      server.registerTool(
        'look',
        { description: 'Never answers, and changes nothing.', annotations: { readOnlyHint: true } },
        () => new Promise(() => {}),
      ),
    die: () => server.registerTool('die', { description: 'Ends the server.' }, () => process.exit(7)),
    fall: () =>
      server.registerTool(
        'fall',
        { description: 'Ends the server, and changes nothing.', annotations: { readOnlyHint: true } },
        () => process.exit(7),
      ),
    expire: () =>
      server.registerTool('expire', { description: 'Ends the session.' }, () => {
        setImmediate(expire)
        return say('it will')
      }),
    begin: () =>
      server.registerTool('begin', { description: 'Begins a transaction.' }, () => {
        if (pending) return say('A transaction is open.', true)
        pending = []
        return say('begun')
      }),
    write: () =>
      server.registerTool('write', { description: 'Writes.', inputSchema: { line: z.string() } }, ({ line }) => {
        if (!pending) return say('There is no transaction.', true)
        pending.push(line)
        return say(`${pending.length} lines`)
      }),
    commit: () =>
      server.registerTool('commit', { description: 'Keeps a transaction.' }, () => {
        if (!pending || !LEDGER) return say('There is no transaction.', true)
        if (pending.includes('refuse me')) return say('This breaks a rule.', true)
        for (const line of pending) appendFileSync(LEDGER, `${line}\n`)
        pending = null
        if (SWALLOW === 'commit') process.exit(7)
        return say('kept')
      }),
    rollback: () =>
      server.registerTool('rollback', { description: 'Drops a transaction.' }, () => {
        if (!pending || SWALLOW === 'rollback') return say('There is no transaction to drop.', true)
        pending = null
        return say('dropped')
      }),
  }
  for (const [name, register] of Object.entries(tools)) if (name !== WITHOUT) register()
  return server
}

async function serveStdio(): Promise<void> {
  await createNotes(() => process.exit(0)).connect(new StdioServerTransport())
}

function serveHttp(): void {
  const transports = new Map<string, StreamableHTTPServerTransport>()
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (TOKEN && request.headers.authorization !== `Bearer ${TOKEN}`)
      return response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
    const id = request.headers['mcp-session-id'] as string | undefined
    if (id === undefined) return (await open()).handleRequest(request, response)
    const transport = transports.get(id)
    if (!transport) return response.writeHead(404).end('{"error":{"message":"Session not found"}}')
    await transport.handleRequest(request, response)
  }
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        transports.set(id, transport)
      },
      onsessionclosed: (id) => {
        transports.delete(id)
      },
    })
    const expire = () => {
      transports.delete(transport.sessionId ?? '')
      void transport.close()
    }
    await createNotes(expire).connect(transport as Parameters<McpServer['connect']>[0])
    return transport
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(Number(port), '127.0.0.1', () => {
    process.stdout.write(`listening ${(server.address() as { port: number }).port}\n`)
  })
  process.on('SIGUSR2', () => process.stdout.write(`sessions ${transports.size}\n`))
}

if (kind === 'stdio') await serveStdio()
else serveHttp()
