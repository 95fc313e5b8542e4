import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { readOptions } from '../options.ts'
import type { Report } from '../report.ts'
import { type ChatRequest, type Expected, JUDGES, type Mode, MODES as PLAIN_MODES } from './modes.ts'
import { NATIVE_MODES } from './native-modes.ts'

const MODES = { ...PLAIN_MODES, ...NATIVE_MODES }

const USAGE = `Usage: pnpm interop providers [--only <part of a name,…>] [--json]

Plays number-guessing with llm: against a server that answers as real servers of language models do, in ${Object.keys(MODES).length} ways of three APIs,
each as a player of one set. The episodes of each have to end as is right for what its server does. Then ${Object.keys(JUDGES).length} judges grade a run.

  --only   modes whose names contain one of these
  --json   print nothing but the line of JSON that ends every run`

const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))
const WORLD = fileURLToPath(new URL('../../examples/number-guessing', import.meta.url))
const TASKS = 3

/** Plays with every mode from the command line. */
export async function runProviders(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, { only: { type: 'string' } })
  if (!options) return null
  const parts = options.only?.split(',') ?? ['']
  const isAsked = ([name]: readonly [string, unknown]) => parts.some((part) => name.includes(part))
  const modes = Object.entries(MODES).filter(isAsked)
  const judges = Object.entries(JUDGES).filter(isAsked)
  const names = [...Object.keys(MODES), ...Object.keys(JUDGES)]
  if (modes.length + judges.length === 0) throw new Error(`No mode is named so. There is: ${names.join(', ')}.`)
  const tallies = { 'llm:': { passed: 0, failed: 0 }, 'judge:': { passed: 0, failed: 0 } }
  const count = (kind: keyof typeof tallies, name: string, problem: string | null) => {
    tallies[kind][problem === null ? 'passed' : 'failed'] += 1
    options.say(`${problem === null ? '✓' : '✗'} ${name}${problem === null ? '' : `: ${problem}`}`)
  }
  const folder = mkdtempSync(join(tmpdir(), 'episodic-providers-'))
  try {
    await using server = await startServer([
      ...modes.map(([, { answer }]) => answer),
      ...judges.map(([, answer]) => answer),
    ])
    const { solver, played } = await playSet(folder, server.url, modes)
    for (const [i, [name, mode]] of modes.entries()) count('llm:', name, problemOf(mode, played[i] as Played))
    for (const [i, [name]] of judges.entries())
      count('judge:', name, await grade(solver, `${server.url}/${modes.length + i}/v1`, i))
    return { clients: tallies }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Serves each mode under its number: `<url>/3/v1`. */
async function startServer(modes: readonly Mode['answer'][]): Promise<AsyncDisposable & { readonly url: string }> {
  const counts = modes.map(() => 0)
  const server = createServer(async (incoming, response) => {
    const request = (await json(incoming)) as ChatRequest
    const mode = Number(incoming.url?.split('/')[1])
    counts[mode] = (counts[mode] as number) + 1
    const { status = 200, headers = {}, body } = (modes[mode] as Mode['answer'])(request, counts[mode])
    const sent = Object.entries({ 'content-type': 'application/json', ...headers }).filter(
      ([, value]) => value !== null,
    )
    response.writeHead(status, Object.fromEntries(sent) as Record<string, string>)
    response.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A sealed line, as far as this program reads it. */
interface SealedEpisode {
  readonly outcome:
    | { readonly kind: 'finished'; readonly end: { readonly kind: string; readonly reason: string } }
    | { readonly kind: 'failed'; readonly error: { readonly code: string; readonly message: string } }
  readonly steps: readonly { readonly completions?: readonly { readonly leftOut?: readonly string[] }[] }[]
}

interface Played {
  readonly stopped: { readonly code: string; readonly message: string } | null
  readonly lines: readonly SealedEpisode[]
}

/**
 * Plays all modes as the players of one set, one episode of each at a time. Resolves with them in the same order, and
 * with the run of a player that is no model.
 */
async function playSet(
  folder: string,
  url: string,
  modes: readonly (readonly [name: string, mode: Mode])[],
): Promise<{ readonly solver: string; readonly played: readonly Played[] }> {
  const models = modes.map(([, mode], i) => ({
    name: `mode-${i}`,
    policy: 'llm:served',
    baseUrl: `${url}/${i}/v1`,
    concurrency: 1,
    ...mode.player,
  }))
  const file = join(folder, 'players.json')
  writeFileSync(file, JSON.stringify([{ policy: 'solver' }, ...models]))
  const args = [
    ...['run', WORLD, '--policies', file, '--out', join(folder, 'set'), '--tasks', String(TASKS), '--json'],
    ...['--file', '{"outageLimit":3}'],
  ]
  const { members } = (await episodic(args)) as {
    members: { player: string; run: string; stopped: Played['stopped'] }[]
  }
  const find = (name: string) => members.find(({ player }) => player === name) as (typeof members)[number]
  const played = models.map(({ name }) => {
    const { run, stopped } = find(name)
    const text = readFileSync(join(folder, 'set', run, 'episodes.jsonl'), 'utf8')
    return {
      stopped,
      lines: text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as SealedEpisode),
    }
  })
  return { solver: join(folder, 'set', find('solver').run), played }
}

/** Has a judge grade a run. Resolves with what is wrong; `null` if it gave a verdict of each episode. */
async function grade(run: string, url: string, number: number): Promise<string | null> {
  const rubric = join(run, '..', '..', `rubric-${number}.md`)
  writeFileSync(rubric, 'It guesses well.')
  const options = ['--grader', `judge:served-${number}`, '--rubric', rubric, '--base-url', url, '--json']
  const { graders } = (await episodic(['grade', run, ...options])) as {
    graders: { grader: { name: string }; graded: number; ungraded: number; missing: number }[]
  }
  const { graded, ungraded, missing } = graders.find(({ grader }) => grader.name === `rubric-${number}`) ?? {}
  const isWhole = graded === TASKS && ungraded === 0 && missing === 0
  return isWhole ? null : `it graded ${graded}, did not grade ${ungraded}, and failed for ${missing}`
}

/** Runs the command. It exits with 1 after a run that a server refused, and has written its JSON all the same. */
async function episodic(args: readonly string[]): Promise<unknown> {
  const env = { ...process.env, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: undefined }
  const { out, err } = await new Promise<{ readonly out: string; readonly err: string }>((resolve) => {
    execFile(process.execPath, [CLI, ...args], { env, maxBuffer: 2 ** 28 }, (_, out, err) => resolve({ out, err }))
  })
  if (!out.startsWith('{')) throw new Error(`episodic ${args[0]} wrote no JSON: ${out}${err}`)
  return JSON.parse(out)
}

/** What is wrong with how the episodes of a mode ended; `null` if nothing is. */
function problemOf({ outcome, says = /(?:)/, leftOut }: Expected, { stopped, lines }: Played): string | null {
  const found = outcomeOf(stopped, lines)
  if (found.outcome !== outcome) return `${found.outcome}, and not ${outcome}: ${found.words}`
  if (!says.test(found.words)) return `it says ${found.words}`
  const named = lines.flatMap(({ steps }) => steps).flatMap(({ completions = [] }) => completions)
  const last = named.at(-1)?.leftOut ?? []
  return last.join() === (leftOut ?? '') ? null : `it leaves out ${last.join(', ') || 'nothing'}`
}

function outcomeOf(stopped: Played['stopped'], lines: readonly SealedEpisode[]) {
  if (stopped) {
    const outcome = stopped.code === 'model-refused' ? 'refused' : 'unavailable'
    return { outcome, words: `${stopped.code}: ${stopped.message}` }
  }
  const words = lines.map(({ outcome }) =>
    outcome.kind === 'failed'
      ? `${outcome.error.code}: ${outcome.error.message}`
      : `${outcome.end.kind}: ${outcome.end.reason}`,
  )
  const kinds = new Set(
    lines.map(({ outcome }) =>
      outcome.kind === 'failed' ? 'failed' : outcome.end.reason === 'solved' ? 'solved' : 'truncated',
    ),
  )
  const outcome = lines.length === TASKS && kinds.size === 1 ? [...kinds].join() : 'mixed'
  return { outcome, words: words.join('; ') }
}
