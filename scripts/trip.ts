/**
 * Prints the way of one call through the sources: the files that it enters, in order, and how often it goes from one
 * file to another. `pnpm trip [name…] [--json] [--way]`; the whole way also names the lines of the functions that are
 * entered.
 *
 * Measured, not read off the imports: a loader hook writes `trip(<file>)` at the head of every function of this
 * repository as it is loaded, found with the TypeScript parser. A scenario runs a few times first, so that what is
 * loaded, cached or compiled once is not counted; then one call of it is recorded. It fails above a limit of
 * `limits.ts`. A hop is two entries in a row that are in different files; a return counts only if another function is
 * entered after it. Of some, rooms are counted in place of files: packages, and the folders of the command below its
 * own rooms.
 */

import { once } from 'node:events'
import { createServer } from 'node:http'
import { registerHooks } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { LIMITS } from './limits.ts'
import { root } from './workspace.ts'

interface Scenario {
  readonly title: string
  /** Files that count, by the start of their path; all of the repository unless given. */
  readonly within?: string
  /** What is entered. Default: its files. */
  readonly unit?: 'files' | 'rooms'
  /** Prepares the scenario, and returns what makes one call of it. */
  prepare(disposables: AsyncDisposableStack): Promise<() => Promise<unknown>>
}

const SCENARIOS: Readonly<Record<keyof typeof LIMITS.trips, Scenario>> = {
  http: {
    title: 'one tools/call over HTTP, agent endpoint: bytes, commit, bytes',
    async prepare(disposables) {
      const { url } = await serveGame(disposables)
      return async () => {
        const { status } = await call(url, 'tools/call', { name: 'guess', arguments: { value: 1 } })
        if (status !== 200) throw new Error(`The server answered with ${status}.`)
      }
    },
  },
  step: {
    title: 'one step of a run, in process',
    async prepare(disposables) {
      const [{ createHost, inProcess }, { connect }, { environment }] = await Promise.all([
        import('@episodic/mcp-server'),
        import('@episodic/env'),
        import('../examples/number-guessing/src/index.ts'),
      ])
      const host = disposables.use(createHost({ environments: [environment] }))
      const played = disposables.use(await connect(inProcess(host))).environment()
      await played.reset({ params: GAME, seed: '1' })
      return () => played.step({ tool: 'guess', arguments: { value: 1 } })
    },
  },
  utterance: {
    title: 'one utterance of a conversation',
    async prepare() {
      const { conversation } = await import('../examples/flight-booking/src/index.ts')
      const now = Date.UTC(2026, 0, 5, 9)
      const text = 'From Lahore to Dubai'
      const start = conversation.start({ now }).record
      const asked = 'I want to book a flight'
      const meant = conversation.interpretNow(start, asked, { now })
      const { record } = conversation.handleInput(start, { kind: 'utterance', text: asked, interpreted: meant, now })
      return async () => {
        const interpreted = conversation.interpretNow(record, text, { now })
        conversation.handleInput(record, { kind: 'utterance', text, interpreted, now })
      }
    },
  },
  agent: {
    title: 'one callTool of an agent, the agent side alone',
    within: 'satellites/agent/',
    async prepare(disposables) {
      const { url } = await serveGame(disposables)
      const { createMcpSessions } = await import('@episodic/agent')
      const sessions = disposables.use(createMcpSessions({ mcpServers: { game: { url } } }))
      const session = await sessions.open('game')
      return () => session.callTool('guess', { value: 1 })
    },
  },
  model: {
    title: 'the fourth turn of a language model in an episode, the side of the model alone',
    within: 'packages/models/src/lib/',
    async prepare(disposables) {
      const [{ createLlmPolicy }, { DEFAULT_OPTIONS }, baseUrl] = await Promise.all([
        import('@episodic/models/policy/llm-policy'),
        import('@episodic/models/model-options'),
        serveModel(disposables),
      ])
      process.env.OPENAI_API_KEY = 'sk-of-nobody-at-all'
      const policy = createLlmPolicy('llm:trip', 'trip', { ...DEFAULT_OPTIONS, baseUrl })
      const inputSchema = { type: 'object', properties: { value: { type: 'integer' } } }
      const tools = [{ name: 'guess', description: 'Guess the number.', inputSchema, outputSchema: null }]
      const begin = async () => {
        const player = await policy.start({ task: { prompt: 'Find it.', hints: [], params: GAME }, tools, seed: '1' })
        const turn = () => player({ text: 'Too low.', structured: null }, { last: null, onCompletion() {} })
        for (let i = 0; i < 3; i++) await turn()
        return turn
      }
      const turns = await Promise.all(Array.from({ length: WARM_UP + 1 }, begin))
      return async () => turns.pop()?.()
    },
  },
  worker: {
    title: 'a worker of a queue, from an announced run to its first job',
    unit: 'rooms',
    async prepare() {
      const [{ openAnnouncedRun }, { findRun }, settings, { hashModule }, { loadWorld }, limits] = await Promise.all([
        import('@episodic/fleet/open-announced-run'),
        import('@episodic/play/play/find-run'),
        import('@episodic/play/play/run-settings'),
        import('@episodic/run/folder/plan/content-hash'),
        import('@episodic/play/worlds/world'),
        import('@episodic/models/limits/model-limit'),
      ])
      const reference = join(root, 'examples/number-guessing/src/index.ts')
      const world = await loadWorld(reference)
      const played = settings.playSettingsSchema.parse({})
      const asked = settings.runSettingsSchema.parse({ ...played, policy: 'solver' })
      const { configuration } = await findRun(reference, asked)
      const sha256 = await hashModule(fileURLToPath(world.url))
      const announced = { format: 1 as const, name: 'trip', episodic: '1', configuration, settings: played }
      const scope = {
        worlds: [{ reference, world }],
        folder: root,
        allowAgents: false,
        queue: 'redis://127.0.0.1:6379',
        apiKeyEnvs: [],
        concurrency: 4,
        version: '1',
        models: {
          limit: limits.createModelLimit(),
          journalOf: () => ({ open: () => Promise.reject(new Error('No model is asked.')), discard: async () => {} }),
          discard() {},
          async [Symbol.asyncDispose]() {},
        },
        loaded: new Map<string, string>(),
      }
      return () => openAnnouncedRun({ ...announced, world: { sha256 } }, scope, 'trip')
    },
  },
}

/** A game that is not over while it is measured. */
const GAME = { low: 1, high: 1_000 }
const WARM_UP = 4

/** Serves a world over HTTP, with one session open. */
async function serveGame(disposables: AsyncDisposableStack) {
  const [{ createHost }, { serveHttp }, { environment }] = await Promise.all([
    import('@episodic/mcp-server'),
    import('@episodic/mcp-server/http'),
    import('../examples/number-guessing/src/index.ts'),
  ])
  const host = disposables.use(createHost({ environments: [environment] }))
  const server = disposables.use(await serveHttp(host))
  const opened = await host.open(null, { environment: environment.name, params: GAME, seed: '1', requestKey: 'trip' })
  const [seat] = Object.values(opened.seats)
  if (!seat) throw new Error('The session has no seat.')
  return { url: server.sessionUrl(seat.capability) }
}

/** Serves a model that answers every request with one call of a tool, and returns the root of its API. */
async function serveModel(disposables: AsyncDisposableStack): Promise<string> {
  const call = { id: 'call_1', type: 'function', function: { name: 'guess', arguments: '{"value":1}' } }
  const answer = {
    id: 'chat_1',
    model: 'trip',
    choices: [
      { index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', content: null, tool_calls: [call] } },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  }
  const server = createServer((incoming, response) => {
    incoming.resume()
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  disposables.defer(() => server.closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

async function call(url: string, method: string, params: object) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return { status: response.status, text: await response.text() }
}

/** A function that was entered: its file, and the line on which it begins. */
interface Entry {
  readonly file: string
  readonly line: number
}

/** The functions entered since recording began; `null` while nothing is recorded. */
let entered: Entry[] | null = null
Object.assign(globalThis, { __trip: (file: string, line: number) => void entered?.push({ file, line }) })

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.startsWith('file:') || !url.endsWith('.ts') || loaded.source == null) return loaded
    const file = relative(root, fileURLToPath(url)).split(sep).join('/')
    if (file.startsWith('..') || file.includes('node_modules/') || file.startsWith('scripts/')) return loaded
    return { ...loaded, source: withRecords(file, String(loaded.source)) }
  },
})

/** The source with a record at the head of every function. Line numbers stay as they are. */
function withRecords(file: string, source: string): string {
  const parsed = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true)
  const inserts: { readonly at: number; readonly text: string }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const body = node.body as ts.Node
      const { line } = parsed.getLineAndCharacterOfPosition(node.getStart())
      const record = `globalThis.__trip(${JSON.stringify(file)},${line + 1})`
      if (ts.isBlock(body)) inserts.push({ at: body.getStart() + 1, text: `${record};` })
      else inserts.push({ at: body.getStart(), text: `(${record}, ` }, { at: body.end, text: ')' })
    }
    ts.forEachChild(node, visit)
  }
  visit(parsed)
  inserts.sort((a, b) => b.at - a.at)
  return inserts.reduce((text, insert) => text.slice(0, insert.at) + insert.text + text.slice(insert.at), source)
}

/** Makes one call of a scenario and measures it. */
async function measure({ title, within = '', unit = 'files', prepare }: Scenario) {
  await using disposables = new AsyncDisposableStack()
  const makeCall = await prepare(disposables)
  for (let i = 0; i < WARM_UP; i++) await makeCall()
  const way: Entry[] = []
  entered = way
  await makeCall()
  entered = null
  const place = unit === 'files' ? ({ file }: Entry) => file : roomOf
  // Which world is played decides nothing, so its files are not counted.
  const isCounted = ({ file }: Entry) =>
    file.startsWith(within) && (unit === 'files' || !/^(examples|satellites\/classics)\//.test(file))
  const counted = way.filter(isCounted)
  const stops: { readonly at: string; readonly lines: number[] }[] = []
  for (const entry of counted) {
    const at = place(entry)
    const last = stops.at(-1)
    if (last?.at === at) last.lines.push(entry.line)
    else stops.push({ at, lines: [entry.line] })
  }
  const order = [...new Set(stops.map(({ at }) => at))]
  return {
    title,
    unit,
    entered: order.length,
    entries: counted.length,
    hops: Math.max(0, stops.length - 1),
    order,
    stops: stops.map(({ at, lines }) => `${at}:${lines.join(',')}`),
  }
}

/** A package, or a folder of the rooms of the command and of the private packages that it is made of. */
function roomOf({ file }: Entry): string {
  const parts =
    /^(?:apps\/harness|packages\/(?:play|run|models|analysis|continue|suites)|satellites\/(?:check|fleet))\/src\/lib\/(.+)\/[^/]+$/
  const [, inCommand] = parts.exec(file) ?? []
  return (inCommand ?? file).split('/').slice(0, 2).join('/')
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false }, way: { type: 'boolean', default: false } },
})
const unknown = positionals.find((name) => !Object.hasOwn(SCENARIOS, name))
if (unknown !== undefined)
  throw new Error(`There is no trip "${unknown}". There are: ${Object.keys(SCENARIOS).join(', ')}.`)
for (const name of Object.keys(SCENARIOS) as (keyof typeof SCENARIOS)[]) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const { stops, ...trip } = await measure(SCENARIOS[name])
  const limit: { files?: number; rooms?: number; hops: number } = LIMITS.trips[name]
  const most = limit[trip.unit] ?? 0
  if (trip.entered > most || trip.hops > limit.hops) process.exitCode = 1
  if (values.json) {
    console.log(JSON.stringify({ name, ...trip, limit, ...(values.way && { way: stops }) }))
    continue
  }
  console.log(`${name}: ${trip.title}`)
  console.log(
    `  ${trip.entered} ${trip.unit} (at most ${most}), ${trip.hops} hops (at most ${limit.hops}), ${trip.entries} function entries`,
  )
  for (const file of values.way ? stops : trip.order) console.log(`    ${file}`)
}
// A client's keep-alive connection would hold the process for some seconds.
process.exit()
