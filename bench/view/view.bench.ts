/**
 * `episodic view` on a run of 100,000 episodes, in a real browser: how soon its rows are there, how fast they are
 * sorted, filtered, scrolled and searched, what memory that takes, and what it costs a run to be followed. Each figure
 * has a bar of its own, for two cores of about 3 GHz; beside times stands a floor, what this machine needs in the same
 * run for what cannot be left out, so that a slower machine is seen as such.
 *
 *   --episodes <number>   of the run that is shown. Default: 100000
 *   --rounds <number>     in which each time is measured once. Default: 5
 *   --tasks <number>      of each run that is followed. Default: 16000
 */
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import type { EmbeddedRuns } from '@episodic/report/view/embedded-runs'
import type { RunDetail, RunEntry } from '@episodic/report/view/run-entry'
import type { SearchHit, SearchProgress } from '@episodic/report/view/search-hit'
import { startProcess } from '../../chaos/processes/start-process.ts'
import { inTurn, median, ratio, report, round2 } from '../figures.ts'
import { needProc, needProgram } from '../needs.ts'
import { readOptions, wholeNumber } from '../options.ts'
import { atLeast, atMost, type Barred } from './bars.ts'
import { followRuns, timeSealedToSeen } from './follow-run.ts'
import { writeLargeRun } from './large-run.ts'
import { measurePages } from './measure-pages.ts'
import { startViewServer } from './view-server.ts'

const options = readOptions({
  episodes: { type: 'string', default: '100000' },
  rounds: { type: 'string', default: '5' },
  tasks: { type: 'string', default: '16000' },
})
const EPISODES = wholeNumber('episodes', options.episodes)
const ROUNDS = wholeNumber('rounds', options.rounds)
/** Of the runs that are followed. */
const RUN_TASKS = wholeNumber('tasks', options.tasks)
const CLI = fileURLToPath(new URL('../../apps/harness/src/cli.ts', import.meta.url))
const GUESSING = fileURLToPath(new URL('../../examples/number-guessing', import.meta.url))
/** Runs of the list, and those whose rows are all in memory. */
const [LISTED, IN_MEMORY] = [50, 10]
/** Lines that are appended to see when a page shows them. */
const SEALED = 15

needProgram('chromium')
needProc()
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

/** What a search cannot do without: read all bytes, look for a text, and parse the lines that contain it. */
async function scanBytes(text: string): Promise<void> {
  await using bytes = await open(file('runs', 'large', 'episodes.jsonl'))
  const block = Buffer.alloc(4 * 1024 * 1024)
  for (;;) {
    const { bytesRead } = await bytes.read(block, 0, block.length)
    if (bytesRead === 0) return
    const read = block.subarray(0, bytesRead)
    for (let at = read.indexOf(text); at >= 0; ) {
      const [start, end] = [read.lastIndexOf('\n', at) + 1, read.indexOf('\n', at)]
      // A line that the block does not contain whole is one in a thousand.
      if (start > 0 && end > 0) JSON.parse(read.toString('utf8', start, end))
      at = end < 0 ? -1 : read.indexOf(text, end)
    }
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
    say(`search, first hit (all ${Math.round(end)} ms, bytes and lines alone ${Math.round(floor)} ms)`, first)
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
  const seen = await timeSealedToSeen(file('sealed'), SEALED)
  const rates = await (async () => {
    await using runs = await followRuns(file('followed'), RUN_TASKS)
    const measured = await inTurn(ROUNDS, { alone: () => runs.play(false), followed: () => runs.play(true) })
    return { ...measured, serverShare: round2(runs.serverShare) }
  })()

  const figures = {
    indexLinesPerSecond: atLeast(15_000, Math.round(median(indexing.indexed)), Math.round(median(indexing.parsed))),
    firstRowsMs: atMost(1_000, pages.firstRows, pages.firstRowsOfSmall),
    listMs: atMost(1_000, pages.list, pages.listOfSmall),
    sortMs: atMost(150, pages.sort),
    // 50 ms to filter, and 150 ms for the figures of what is left: a page shows both at once.
    filterMs: atMost(200, pages.filter),
    scrollLongestTaskMs: atMost(100, pages.scrollLongestTask),
    transcriptScrollLongestTaskMs: atMost(100, pages.transcriptLongestTask),
    mostNodes: atMost(3_000, pages.mostNodes),
    transcriptMs: atMost(300, pages.transcript),
    searchFirstHitMs: atMost(200, Math.round(median(searched.map(({ first }) => first)))),
    searchEndMs: atMost(
      1_500,
      Math.round(median(searched.map(({ end }) => end))),
      Math.round(median(searched.map(({ floor }) => floor))),
    ),
    tabMebibytes: atMost(150, pages.tabMebibytes),
    serverMebibytesForTenRuns: atMost(250, Math.round(memory)),
    reportKilobytes: atMost(500, page.kilobytes),
    reportEpisodes: atLeast(400, page.whole),
    sealedToSeenMs: atMost(1_000, Math.round(Math.max(...seen))),
    runWhileFollowed: atLeast(0.98, ratio(rates.followed, rates.alone)),
  } satisfies Record<string, Barred>
  report('view', {
    ok: Object.values(figures).every(({ ok }) => ok),
    ...figures,
    // Shown without a bar.
    sealedToSeenTypicalMs: Math.round(median(seen)),
    transcriptFromAddressMs: pages.transcriptFromAddress,
    shortTranscriptFromAddressMs: pages.shortTranscriptFromAddress,
    searchedMegabytes: Math.round(bytes / 1e6),
    serverShareOfACore: rates.serverShare,
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
