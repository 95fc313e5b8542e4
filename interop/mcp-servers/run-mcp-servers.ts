import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { readOptions } from '../options.ts'
import type { Report, Tally } from '../report.ts'
import { playEverything } from './everything.ts'
import { type InstalledServer, installServers } from './install-servers.ts'
import { processesOf, waitForEnd, waitForNothing } from './leftovers.ts'
import { endOf, linesOf, openServerFolder, PLAYER, type SealedLine, type ServerFolder } from './server-runs.ts'

const USAGE = `Usage: pnpm interop mcp-servers [--only <part of a name,…>] [--episodes <n>] [--kills <n>] [--json]

Plays twelve public MCP servers of npm and PyPI as worlds, with a task and a score each: episodes of one server at once,
which may see nothing of each other; then replays them, and plays a recording of them, without the server. Then kills a launcher, a server or a player
in the middle of an episode, again and again, and counts what is left. Needs Linux, git, npm, Python, and Debian's
chromium.

  --only      servers whose names contain one of these
  --episodes  episodes of each server at once (default 32; 0: only the kills)
  --kills     kills of all servers together (default 50)
  --json      print nothing but the line of JSON that ends every run`

/** Plays the servers from the command line. */
export async function runMcpServers(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {
    only: { type: 'string' },
    episodes: { type: 'string', default: '32' },
    kills: { type: 'string', default: '50' },
  })
  if (!options) return null
  const { say } = options
  const parts = options.only?.split(',') ?? ['']
  const servers = installServers(parts, console.error)
  if (servers.length === 0) throw new Error(`No server is named so.\n${USAGE}`)
  await using page = await servePage()
  const clients: Record<string, Tally> = {}
  const seconds: Record<string, number> = {}
  for (const server of Number(options.episodes) > 0 ? servers : []) {
    const begun = performance.now()
    clients[server.version] = await playAndReplay(server, page.url, Number(options.episodes), say)
    seconds[server.program] = Math.round((performance.now() - begun) / 1_000)
  }
  const everything = servers.find(({ program }) => program === 'mcp-server-everything')
  if (everything) clients['resources, prompts and questions'] = await playEverything(everything, page.url, say)
  clients.kills = await kill(servers, page.url, Number(options.kills), say)
  return { clients, details: { seconds } }
}

/** Serves a page that keeps what its address has after the mark, and shows its path. */
async function servePage(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(({ url = '' }, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(
      `<!doctype html><html><head><title>Page</title></head><body><article><p>This page is ${url.slice(1)}.</p></article>` +
        "<script>localStorage.setItem('values', (localStorage.getItem('values') ?? '') + location.hash)</script></body></html>",
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * Plays episodes of a server at once, takes its program away, and replays them; then makes a recording of them, and
 * plays that, with the same players and with players who make another call. Each episode that does one of these has
 * passed.
 */
async function playAndReplay(
  server: InstalledServer,
  page: string,
  episodes: number,
  say: (text: string) => void,
): Promise<Tally> {
  using folder = openServerFolder(server, page, false)
  const begin = async (args: readonly string[], variables = {}) => endOf(folder.start(args, variables))
  const linesIn = (name: string) => {
    const run = join(folder.path, name)
    return existsSync(join(run, 'episodes.jsonl')) ? linesOf(run) : []
  }
  const { err } = await begin(['run', ...folder.options(episodes), '--out', 'run', '--json'])
  const live = linesIn('run')
  folder.removeServer()
  const left = [...(await waitForNothing(folder.path)), ...strangers(folder)]
  const replayed = await begin(['replay', 'run', '--json'])
  const recorded = await begin(['record', 'run', '--out', 'world.jsonl'])
  const again = ['run', 'world.jsonl', '--policy', PLAYER, '--tasks', `${episodes}`, '--json']
  const played = await begin([...again, '--out', 'again'])
  const unseen = await begin([...again, '--out', 'unseen'], { UNSEEN_CALL: '1' })
  const stages = {
    'keep their value alone': [live.filter(isSuccess).length, err],
    'are replayed': [replayed.status === 0 ? live.length : 0, `${replayed.out}${replayed.err}`],
    'are played from the recording': [linesIn('again').filter(isSuccess).length, `${recorded.err}${played.err}`],
    'say which call was not recorded': [linesIn('unseen').filter(saysWhatIsUnseen).length, unseen.err],
  } as const
  const wrong = Object.entries(stages).filter(([, [count]]) => count !== episodes)
  const isRight = wrong.length === 0 && left.length === 0
  say(`${isRight ? '✓' : '✗'} ${server.version}: ${episodes} episodes at once, replayed, recorded and played again`)
  for (const [what, [count, text]] of wrong) console.error(`  ${count} of ${episodes} ${what}\n${text.slice(-2_000)}`)
  for (const each of left) console.error(`  left: ${each}`)
  const passed = Object.values(stages).reduce((sum, [count]) => sum + count, 0)
  return { passed, failed: 4 * episodes - passed + left.length }
}

const isSuccess = ({ returns }: SealedLine) => returns?.total === 1
const saysWhatIsUnseen = ({ outcome: { error } }: SealedLine) =>
  error?.code === 'not-recorded' && error.message.includes('"unseen":true')

/** What is in the folder of a server that neither this program nor the command puts there. */
function strangers({ path }: ServerFolder): string[] {
  const known = /^(?:run|home|tmp|score\.ts|tasks\.jsonl|\.episodic)$/
  return readdirSync(path).filter((name) => !known.test(name))
}

const VICTIMS = ['player', 'server', 'launcher'] as const

/** Kills one process of each run, and counts the runs of which nothing is left. */
async function kill(
  servers: readonly InstalledServer[],
  page: string,
  kills: number,
  say: (text: string) => void,
): Promise<Tally> {
  let failed = 0
  for (let i = 0; i < kills; i++) {
    const server = servers[i % servers.length] as InstalledServer
    const victim = VICTIMS[(i + Math.floor(i / servers.length)) % VICTIMS.length] as (typeof VICTIMS)[number]
    const problems = await killOne(server, page, victim)
    if (problems.length > 0) failed += 1
    say(`${problems.length === 0 ? '✓' : '✗'} kill ${i + 1} of ${kills}: the ${victim} of ${server.program}`)
    for (const problem of problems) console.error(`  ${problem}`)
  }
  return { passed: kills - failed, failed }
}

/** Episodes at once of a run in which a process is killed. */
const AT_ONCE = 2

async function killOne(server: InstalledServer, page: string, victim: (typeof VICTIMS)[number]): Promise<string[]> {
  using folder = openServerFolder(server, page, true)
  const run = folder.start(['run', ...folder.options(AT_ONCE), '--out', 'run', '--json'], { WAITING_ROOM: folder.path })
  const ended = endOf(run)
  const waiting = () => readdirSync(folder.path).filter((name) => name.startsWith('waiting-')).length
  while (waiting() < AT_ONCE && run.exitCode === null && run.signalCode === null) await setTimeout(50)
  if (waiting() < AT_ONCE) return [`it ended before it was killed: ${(await ended).err.slice(-2_000)}`]
  const own = processesOf(folder.path)
  const launchers = own.filter(
    ({ command, variables }) => /^sh -c /.test(command) && variables.includes('EPISODIC_MCP'),
  )
  const launcher = launchers[0]
  const started = own.find(({ parent }) => parent === launcher?.id)
  const id = { player: run.pid, server: started?.id, launcher: launcher?.id }[victim]
  if (launchers.length !== AT_ONCE || id === undefined) return [`its processes were not found: ${JSON.stringify(own)}`]
  process.kill(id, 'SIGKILL')
  // A server whose launcher is gone still answers until the host has ended it.
  if (victim === 'launcher') await waitForEnd(folder.path, started?.id)
  writeFileSync(join(folder.path, 'go'), '')
  await ended
  const kinds = victim === 'player' ? [] : linesOf(join(folder.path, 'run')).map(({ outcome }) => outcome.kind)
  // An episode that is judged by what was answered before needs its server no more.
  const expected = server.found.includes('call(') ? 'failed,finished' : 'finished,finished'
  const wrong =
    victim === 'player' || kinds.sort().join() === expected ? [] : [`its episodes are ${kinds.join() || 'none'}`]
  return [...wrong, ...(await waitForNothing(folder.path))]
}
