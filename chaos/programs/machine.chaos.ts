/**
 * Computers whose commands run for real, in boxes of bubblewrap: commands over a bad connection to a server that is
 * killed again and again, of which none is lost or doubled, and of whose boxes nothing is left; and hostile programs,
 * which reach neither this host nor another session.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Connection, connect, type Environment } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { bubblewrap } from '@episodic/workspace'
import { createDesk, createProject } from '../../bench/servers/desk-world.ts'
import { startProxy } from '../network/proxy.ts'
import { drawFates, STORM } from '../network/weather.ts'
import { startServer } from '../processes/server.ts'
import { clearStore, openStore } from '../processes/store.ts'
import { runTrial } from '../trial.ts'
import { hostilePrograms } from '../workspace/hostile-programs.ts'

const WORLD = fileURLToPath(new URL('../workspace/box-world.ts', import.meta.url))
const FILES = createProject({ files: 300, parts: 20, lines: 40 })
const BOUNDS = { memory: 268_435_456, processes: 64, output: 1_000_000 }

/** What each player does in turn, by the number of the command. */
function commandOf(i: number): readonly [tool: string, arguments_: Record<string, string>] {
  const log = `echo "${i} $count" >> /project/log.txt`
  switch (i % 6) {
    case 0:
      return ['bash', { command: `count=$((count + 1)); ${log}` }]
    case 1:
      return ['bash', { command: `${log}; sort -r part-${i % 20}/file-${i % 20}.txt | tee sorted-${i}.txt | head -2` }]
    case 2:
      return ['bash', { command: `sed -i s/fox/cat/ part-${i % 20}/file-${i % 20}.txt; ${log}; (sleep 100 &)` }]
    case 3:
      return ['bash', { command: `python3 -c 'open("log.txt", "a").write("${i} python\\n")'; rm sorted-${i - 2}.txt` }]
    case 4:
      return [
        'bash',
        { command: `mkdir -p d/${i}; ln -s ../../log.txt d/${i}/l; chmod 700 d/${i}; ${log}; wc -l d/*/l` },
      ]
    default:
      return ['edit_file', { path: '/project/log.txt', old_text: `${i - 2} python`, new_text: `${i - 2}: python` }]
  }
}

/** What is compared in the end: every file, with its content. */
const SUMMARY = 'cat log.txt; find . -type f | sort | xargs md5sum | md5sum; find . | sort | md5sum; pwd; echo $count'

const run = async (world: Environment, command: string) =>
  (await world.step({ tool: 'bash', arguments: { command } })).observation.text

async function play(connection: Connection, seed: string, commands: number, onStep: () => void): Promise<string> {
  const world = connection.environment('desk')
  await world.reset({ seed })
  const texts: string[] = []
  for (let i = 0; i < commands; i++) {
    const [tool, args] = commandOf(i)
    texts.push((await world.step({ tool, arguments: args })).observation.text)
    onStep()
  }
  const left = await run(world, SUMMARY)
  await world.close()
  return JSON.stringify([texts, left])
}

await runTrial('machine', { store: 'sqlite' }, async ({ rng, quick, options, folder, stack }) => {
  const breaches: string[] = []
  const [players, commands, kills] = quick ? [6, 16, 2] : [40, 125, 50]
  const boxes = join(folder, 'boxes')
  // Commands are run by another user than root.
  chmodSync(folder, 0o711)
  const store = stack.use(await openStore(options.store, folder))
  const args = ['--store', store.address, '--idle', '86400']
  const server = stack.use(await startServer({ world: WORLD, folder, args }))
  const fate = drawFates(rng.stream('weather'), STORM)
  const proxy = stack.use(await startProxy(server.port, { fate, onExchange: () => {} }))
  const connection = stack.use(
    await connect(
      { url: `http://127.0.0.1:${proxy.port}/env`, token: server.token },
      { retry: { attempts: 1_000, seconds: 300 } },
    ),
  )

  const owners = new Set<string>()
  let played = 0
  let striking: Promise<void> | null = null
  const every = (players * commands) / (kills + 1)
  const strike = () => {
    played += 1
    if (striking || server.kills === kills || played < every * (server.kills + 1)) return
    striking = (server.kills % 2 === 0 ? pause(rng.stream('kills').int(0, 50)) : letCommandStrike())
      .then(() => {
        for (const owner of readdirSync(boxes)) owners.add(owner)
        return server.restart()
      })
      .finally(() => {
        striking = null
      })
  }
  /** Lets a command kill its server between its end and its commit. */
  const letCommandStrike = async () => {
    writeFileSync(join(folder, 'strike'), '')
    while (existsSync(join(folder, 'strike')) && played < players * commands) await pause(5)
  }
  const seeds = Array.from({ length: players }, (_, i) => `player-${i}`)
  const left = await Promise.all(seeds.map((seed) => play(connection, seed, commands, strike)))
  await striking
  await proxy.settled()
  await server[Symbol.asyncDispose]()
  const { pagesLeft } = await clearStore(store.open)
  if (pagesLeft > 0) breaches.push(`${pagesLeft} pages are left of sessions that were closed.`)

  const machine = bubblewrap({ folder: boxes })
  const desk = createDesk(FILES, { machine, bounds: BOUNDS, seconds: 5 })
  const reference = stack.use(await connect(inProcess(createHost({ environments: [desk] }))))
  const expected = await play(reference, 'player', commands, () => {})
  const differing = left.filter((each) => each !== expected).length
  if (differing > 0) breaches.push(`${differing} computers differ from one whose server was not killed.`)

  const hostile = await playHostile(reference, folder, boxes, quick, breaches)
  await machine.close()
  const leftFolders = readdirSync(boxes).length + groupsOf(owners)
  const leftProcesses = processesIn(boxes).length
  if (leftFolders + leftProcesses > 0)
    breaches.push(`${leftFolders} folders and control groups, and ${leftProcesses} processes are left of boxes.`)
  return {
    breaches,
    figures: {
      commands: played,
      sessions: players,
      kills: server.kills,
      differing,
      pagesLeft,
      leftFolders,
      leftProcesses,
      ...hostile,
    },
  }
})

/** Plays hostile programs, each on a computer of its own, beside one that goes on with its work. */
async function playHostile(connection: Connection, folder: string, boxes: string, quick: boolean, breaches: string[]) {
  const secret = `secret-${process.pid}-${Date.now()}`
  const open = join(folder, 'open')
  mkdirSync(open)
  writeFileSync(join(open, 'secret'), secret, { mode: 0o666 })
  let reached = 0
  await using listeners = new AsyncDisposableStack()
  const listen = async (where: object) => {
    const listener = createServer(() => void reached++).listen(where)
    listeners.defer(async () => void listener.close())
    await once(listener, 'listening')
    return listener
  }
  const tcp = await listen({ port: 0, host: '127.0.0.1' })
  const socket = `episodic-${process.pid}`
  await listen({ path: `\0${socket}` })
  const bystander = spawn('sleep', ['100000'], { stdio: 'ignore' })
  listeners.defer(async () => void bystander.kill())

  const programs = hostilePrograms({
    file: join(open, 'secret'),
    folder: open,
    port: (tcp.address() as { port: number }).port,
    socket,
    pid: bystander.pid as number,
  })
  const witness = connection.environment('desk')
  await witness.reset({ seed: 'witness' })
  const look =
    'find . | sort | xargs -d "\\n" ls -ld --time-style=+ | md5sum; cat part-0/*.txt | md5sum; id -u; ls -A /tmp'
  const seen = await run(witness, look)
  let ended = 0
  const asked = Object.entries(programs).filter((_, i) => !quick || i % 6 === 0)
  for (const [what, program] of asked) {
    const world = connection.environment('desk')
    await world.reset({ seed: what })
    const [answer, beside] = await Promise.all([
      run(world, program).catch((error: Error) => {
        breaches.push(`${what} was not answered: ${error.message}`)
        return ''
      }),
      run(witness, look),
    ])
    if (answer.includes('[exit code 137]')) ended += 1
    const next = await run(world, 'ls -laR | head -50; echo still here').catch((error: Error) => error.message)
    if (!next.includes('still here')) breaches.push(`${what} was the end of its computer: ${next.slice(0, 500)}`)
    if (`${answer}${next}`.includes(secret)) breaches.push(`${what} has read the secret of the host.`)
    if (beside !== seen || (await run(witness, look)) !== seen) breaches.push(`${what} disturbed another computer.`)
    if (readFileSync(join(open, 'secret'), 'utf8') !== secret || readdirSync(open).length > 1)
      breaches.push(`${what} has written to the host.`)
    if (bystander.exitCode !== null || bystander.signalCode !== null) breaches.push(`${what} has ended a process.`)
    if (processesIn(boxes).length > 0) breaches.push(`${what} has left a process.`)
    await world.close()
  }
  if (reached > 0) breaches.push(`${reached} connections reached the host.`)
  return { hostile: asked.length, ended, reached }
}

/** The processes of this computer that see files of a folder, as those in its boxes do. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/mountinfo`, 'utf8').includes(`${folder}/`)
    } catch {
      return false
    }
  })
}

function groupsOf(owners: ReadonlySet<string>): number {
  const roots = ['/sys/fs/cgroup', '/sys/fs/cgroup/memory'].filter((root) => existsSync(root))
  return roots.flatMap((root) => readdirSync(root)).filter((name) => [...owners].some((each) => name.startsWith(each)))
    .length
}
