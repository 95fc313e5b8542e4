/**
 * Computers as states: commands over a bad connection to a server that is killed again and again, of which none is lost
 * or played twice; and hostile commands, which end in an answer, and neither leave their computer nor disturb another.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Connection, connect, type Environment } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { startProxy } from '../network/proxy.ts'
import { drawFates, STORM } from '../network/weather.ts'
import { startServer } from '../processes/server.ts'
import { clearStore, openStore } from '../processes/store.ts'
import { runTrial } from '../trial.ts'
import { environment } from '../workspace/desk-world.ts'
import { HOSTILE_COMMANDS } from '../workspace/hostile-commands.ts'

const WORLD = fileURLToPath(new URL('../workspace/desk-world.ts', import.meta.url))

/** What each player does in turn, by the number of the command: files, chance, time, variables, transactions. */
function commandOf(i: number): readonly [tool: string, arguments_: Record<string, string>] {
  const log = `echo "${i} $RANDOM $(date +%s) $count" >> /project/log.txt`
  switch (i % 6) {
    case 0:
      return ['bash', { command: `count=$((count + 1)); ${log}` }]
    case 1:
      return ['bash', { command: `sleep 1; ${log}; cp part-${i % 20}/file-${i % 20}.txt copy-${i}.txt` }]
    case 2:
      return ['bash', { command: `sed -i s/fox/cat/ part-${i % 20}/file-${i % 20}.txt; ${log}` }]
    case 3:
      return [
        'sql',
        { database: 'log.db', sql: `CREATE TABLE IF NOT EXISTS t(a, b); BEGIN; INSERT INTO t VALUES (${i}, random())` },
      ]
    case 4:
      return [
        'sql',
        { database: 'log.db', sql: `INSERT INTO t VALUES (${i}, datetime()); ${i % 12 === 4 ? 'ROLLBACK' : 'COMMIT'}` },
      ]
    default:
      return ['edit_file', { path: '/project/log.txt', old_text: `${i - 3} `, new_text: `${i - 3}: ` }]
  }
}

/** What is compared in the end: every file, with its content. */
const SUMMARY =
  'cat log.txt; find . -type f | sort | xargs md5sum | md5sum; sqlite3 log.db "select * from t"; pwd; echo $count'

async function play(connection: Connection, seed: string, commands: number, onStep: () => void): Promise<string> {
  const world = connection.environment('desk')
  await world.reset({ seed })
  const texts: string[] = []
  for (let i = 0; i < commands; i++) {
    const [tool, args] = commandOf(i)
    texts.push((await world.step({ tool, arguments: args })).observation.text)
    onStep()
  }
  const { observation } = await world.step({ tool: 'bash', arguments: { command: SUMMARY } })
  await world.close()
  return JSON.stringify([texts, observation.text])
}

await runTrial('workspace', { store: 'sqlite' }, async ({ rng, quick, options, folder, stack }) => {
  const breaches: string[] = []
  const [players, commands, kills] = quick ? [6, 18, 2] : [40, 250, 50]
  const store = stack.use(await openStore(options.store, folder))
  const server = stack.use(
    await startServer({ world: WORLD, folder, args: ['--store', store.address, '--idle', '86400'] }),
  )
  const fate = drawFates(rng.stream('weather'), STORM)
  const proxy = stack.use(await startProxy(server.port, { fate, onExchange: () => {} }))
  const connection = stack.use(
    await connect(
      { url: `http://127.0.0.1:${proxy.port}/env`, token: server.token },
      // A command takes longer than a step of rules, and a server that comes back has many to answer.
      { retry: { attempts: 1_000, seconds: 300 } },
    ),
  )
  const reference = stack.use(await connect(inProcess(createHost({ environments: [environment] }))))

  let played = 0
  let striking: Promise<void> | null = null
  const every = (players * commands) / (kills + 1)
  const strike = () => {
    played += 1
    if (striking || server.kills === kills || played < every * (server.kills + 1)) return
    striking = pause(rng.stream('kills').int(0, 10))
      .then(() => server.restart())
      .finally(() => {
        striking = null
      })
  }
  const seeds = Array.from({ length: players }, (_, i) => `player-${i}`)
  const left = await Promise.all(seeds.map((seed) => play(connection, seed, commands, strike)))
  await striking
  let differing = 0
  for (const [i, seed] of seeds.entries()) {
    if (left[i] === (await play(reference, seed, commands, () => {}))) continue
    differing += 1
    breaches.push(`The computer of ${seed} differs from one whose server was not killed.`)
  }
  await proxy.settled()
  await server[Symbol.asyncDispose]()
  const { pagesLeft } = await clearStore(store.open)
  if (pagesLeft > 0) breaches.push(`${pagesLeft} pages are left of sessions that were closed.`)

  const hostile = await playHostile(
    reference,
    quick ? HOSTILE_COMMANDS.filter((_, i) => i % 5 === 0) : HOSTILE_COMMANDS,
  )
  breaches.push(...hostile.breaches)
  return {
    breaches,
    figures: {
      commands: played,
      sessions: players,
      kills: server.kills,
      differing,
      pagesLeft,
      ...hostile.figures,
    },
  }
})

/** Plays hostile commands, each on a computer of its own, beside one that goes on with its work. */
async function playHostile(connection: Connection, commands: typeof HOSTILE_COMMANDS) {
  const breaches: string[] = []
  const witness = connection.environment('desk')
  await witness.reset({ seed: 'witness' })
  const alone = connection.environment('desk')
  await alone.reset({ seed: 'witness' })
  let ended = 0
  for (const { what, command, forbidden } of commands) {
    const world = connection.environment('desk')
    await world.reset({ seed: what })
    const [answer, seen] = await Promise.all([
      world.step({ tool: 'bash', arguments: { command } }).then(
        ({ observation }) => observation.text,
        (error: Error) => {
          breaches.push(`${what} was not answered: ${error.message}`)
          return ''
        },
      ),
      readSeen(witness),
    ])
    if (/\[exit code 137]/.test(answer)) ended += 1
    const found = forbidden.exec(answer)
    if (found) breaches.push(`${what} was answered with ${found[0]}.`)
    if (seen !== (await readSeen(alone))) breaches.push(`${what} disturbed another computer.`)
    await world.close()
  }
  return { breaches, figures: { hostile: commands.length, ended } }
}

async function readSeen(world: Environment): Promise<string> {
  const command = 'echo $RANDOM >> seen; date; cat seen part-1/file-1.txt | md5sum; ls /tmp; echo $__proto__ ${#x}'
  return (await world.step({ tool: 'bash', arguments: { command } })).observation.text
}
