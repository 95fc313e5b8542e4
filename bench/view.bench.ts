/**
 * `episodic view` on a run of 100,000 episodes, in a real browser: how soon its rows are there, how fast they are sorted,
 * filtered, scrolled and searched, and what memory that takes. A time decides only by its ratio to a floor that is measured in
 * the same run; those that the design names in milliseconds are shown beside.
 */
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { summarySchema } from '@episodic/harness'
import type { EmbeddedRuns, RunDetail, RunEntry, SearchHit, SearchProgress } from '@episodic/report'
import { startProcess } from '../chaos/processes.ts'
import { inTurn, median, ratio, report, round2 } from './figures.ts'
import { writeLargeRun } from './view/large-run.ts'
import { measurePages } from './view/measure-pages.ts'
import { startViewServer } from './view/view-server.ts'

const { values: options } = parseArgs({
  options: { episodes: { type: 'string', default: '100000' }, rounds: { type: 'string', default: '5' } },
})
const EPISODES = Number(options.episodes)
const ROUNDS = Number(options.rounds)
const CLI = fileURLToPath(new URL('../apps/harness/src/cli.ts', import.meta.url))
const GUESSING = fileURLToPath(new URL('../examples/number-guessing', import.meta.url))
/** Runs of the list, and those whose rows are all in memory. */
const [LISTED, IN_MEMORY] = [50, 10]

const folder = mkdtempSync(join(tmpdir(), 'episodic-view-'))
const file = (...names: string[]) => join(folder, ...names)
const elapsed = async (work: () => Promise<unknown>) => {
  const began = performance.now()
  await work()
  return performance.now() - began
}
const say = (name: string, milliseconds: number) => console.error(`  ${name.padEnd(44)} ${Math.round(milliseconds)} ms`)

/** Runs that share the bytes of one, as hard links. */
function linkRuns(home: string, count: number): void {
  for (let i = 0; i < count; i++) {
    mkdirSync(file(home, `large-${i}`), { recursive: true })
    for (const name of ['episodes.jsonl', 'run.json', 'episodes.idx'])
      linkSync(file('runs', 'large', name), file(home, `large-${i}`, name))
  }
}

/** What an index cannot do without: read each line and parse it as JSON. */
async function parseLines(): Promise<void> {
  await using lines = await open(file('runs', 'large', 'episodes.jsonl'))
  for await (const line of lines.readLines()) JSON.parse(line)
}

/** Milliseconds until the rows of all lines are there. */
async function readRows(runs: string): Promise<number> {
  await using server = await startViewServer(file(runs))
  const [run] = (await (await server.get('/api/runs')).json()) as [RunEntry]
  return await elapsed(async () => {
    for (;;) {
      const { rows } = (await (await server.get(`/api/r/${run.id}`)).json()) as RunDetail
      if (rows >= EPISODES) return
    }
  })
}

/** What a search cannot do without: read all bytes and look for one text. */
async function scanBytes(text: string): Promise<void> {
  await using bytes = await open(file('runs', 'large', 'episodes.jsonl'))
  const block = Buffer.alloc(4 * 1024 * 1024)
  for (;;) {
    const { bytesRead } = await bytes.read(block, 0, block.length)
    if (bytesRead === 0) return
    block.subarray(0, bytesRead).indexOf(text)
  }
}

/** Milliseconds until the first hit of a search, and until its end. */
async function search(server: Awaited<ReturnType<typeof startViewServer>>, text: string) {
  const began = performance.now()
  const { body } = await server.get(`/api/search?q=${encodeURIComponent(text)}`)
  let first = Number.NaN
  let rest = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    const found = lines.map((line) => JSON.parse(line) as SearchHit | SearchProgress)
    if (Number.isNaN(first) && found.some((one) => 'match' in one)) first = performance.now() - began
  }
  return { first, end: performance.now() - began }
}

function residentMebibytes(pid: number): number {
  const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) / 1024
}

/** The size of the report of 400 plain episodes, and how many of them are whole in it. */
async function measureReport() {
  const out = file('plain')
  const options = ['--tasks', '100', '--rollouts', '4', '--out', out, '--json']
  await using run = startProcess(process.execPath, [CLI, 'run', GUESSING, ...options])
  await run.line()
  await run.exited
  const html = readFileSync(join(out, 'report.html'), 'utf8')
  const [, data = ''] = /id="data">([^<]*)</.exec(html) ?? []
  const { runs } = JSON.parse(gunzipSync(Buffer.from(data, 'base64')).toString()) as EmbeddedRuns
  return { kilobytes: Math.round(html.length / 1_000), whole: Object.keys(runs[0]?.lines ?? {}).length }
}

let played = 0
/** Steps a second of a run, by its own clock, with a page open that follows it or without. */
async function playRun(watched: boolean): Promise<number> {
  const home = file(`played-${played++}`)
  mkdirSync(home)
  const out = join(home, 'run')
  await using run = startProcess(process.execPath, [CLI, 'run', GUESSING, '--tasks', '8000', '--out', out, '--json'])
  if (watched) {
    while (!statSync(join(out, 'run.json'), { throwIfNoEntry: false }))
      await new Promise((resolve) => setImmediate(resolve))
    await using server = await startViewServer(home)
    const abort = new AbortController()
    const events = fetch(`${server.origin}/api/events`, {
      headers: { cookie: `${server.cookie.name}=${server.cookie.value}` },
      signal: abort.signal,
    })
    const summary = summarySchema.parse(JSON.parse(await run.line()))
    abort.abort()
    await events.catch(() => {})
    return summary.time.stepsPerSecond ?? 0
  }
  return summarySchema.parse(JSON.parse(await run.line())).time.stepsPerSecond ?? 0
}

try {
  console.error(`writing ${EPISODES.toLocaleString('en')} episodes`)
  await writeLargeRun(file('runs', 'large'), EPISODES)
  const bytes = statSync(file('runs', 'large', 'episodes.jsonl')).size

  const indexing = await inTurn(Math.min(ROUNDS, 3), {
    parsed: async () => EPISODES / ((await elapsed(parseLines)) / 1_000),
    indexed: async () => {
      rmSync(file('runs', 'large', 'episodes.idx'), { force: true })
      return EPISODES / ((await readRows('runs')) / 1_000)
    },
  })

  await using server = await startViewServer(file('runs'))
  const needle = 'the half divides'
  const searched: { first: number; end: number; floor: number }[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const floor = await elapsed(() => scanBytes(needle))
    const { first, end } = await search(server, needle)
    say(`search, first hit (all ${Math.round(end)} ms, bytes alone ${Math.round(floor)} ms)`, first)
    if (round > 0) searched.push({ first, end, floor })
  }

  linkRuns('listed', LISTED)
  linkRuns('in-memory', IN_MEMORY)
  const small = mkdtempSync(file('small-'))
  await writeLargeRun(join(small, 'runs', 'large'), 100)
  const memory = await (async () => {
    await using ten = await startViewServer(file('in-memory'))
    const before = residentMebibytes(ten.pid)
    for (const { id } of (await (await ten.get('/api/runs')).json()) as RunEntry[])
      await (await ten.get(`/api/r/${id}/columns`)).arrayBuffer()
    return residentMebibytes(ten.pid) - before
  })()
  const pages = await measurePages({
    large: file('runs'),
    listed: file('listed'),
    small: join(small, 'runs'),
    rounds: ROUNDS,
    say,
  })
  const page = await measureReport()
  const rates = await inTurn(ROUNDS, { alone: () => playRun(false), watched: () => playRun(true) })

  const figures = {
    indexLinesPerSecond: Math.round(median(indexing.indexed)),
    indexToParsing: ratio(indexing.indexed, indexing.parsed),
    searchFirstHitMs: Math.round(median(searched.map(({ first }) => first))),
    searchEndMs: Math.round(median(searched.map(({ end }) => end))),
    searchToBytes: round2(median(searched.map(({ end, floor }) => end / floor))),
    searchedMegabytes: Math.round(bytes / 1e6),
    serverMebibytesForTenRuns: Math.round(memory),
    ...pages,
    reportKilobytes: page.kilobytes,
    reportEpisodes: page.whole,
    runWithViewer: ratio(rates.watched, rates.alone),
  }
  report('view', {
    ok:
      figures.indexToParsing >= 0.5 &&
      figures.searchToBytes <= 6 &&
      figures.serverMebibytesForTenRuns <= 250 &&
      pages.tabMebibytes <= 150 &&
      pages.firstRowsToSmall <= 3 &&
      pages.listToSmall <= 3 &&
      pages.mostNodes <= 3_000 &&
      figures.reportEpisodes === 400 &&
      figures.reportKilobytes <= 500 &&
      figures.runWithViewer >= 0.98,
    ...figures,
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
