/**
 * Machines elsewhere, against fakes of them: sessions whose process is killed, whose server of E2B's API is killed with
 * all sandboxes and loses, refuses and cuts what is asked of it, and whose containers are lost. No command is lost or
 * doubled without a word, and nothing is left once its time to live is over.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Killable, startProcess } from '../processes/start-process.ts'
import { runTrial } from '../trial.ts'
import { until } from '../until.ts'

const fixture = (name: string) =>
  fileURLToPath(new URL(`../../satellites/workspace/src/lib/machine/${name}.fixture.ts`, import.meta.url))
const PLAYER = fileURLToPath(new URL('../workspace/sandbox-player.ts', import.meta.url))

await runTrial('sandboxes', { faults: '0.05' }, async ({ rng, seed, quick, options, folder, stack }) => {
  const breaches: string[] = []
  const [players, commands, kills] = quick ? [2, 20, 4] : [8, 100, 100]
  const draws = rng.stream('kills')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const docker = join(folder, 'docker')
  await mkdir(docker)
  // Commands of root are run by other users.
  await chmod(folder, 0o711)
  const env = {
    ...{ E2B_API_URL: url, E2B_SANDBOX_URL: url, E2B_API_KEY: `e2b_${'0'.repeat(40)}`, FAKE_DOCKER: docker },
    TMPDIR: folder,
  }
  const counts = { played: 0, unknown: 0, refused: 0, playerKills: 0, serverKills: 0, containersLost: 0 }

  let server = await startServer(0)
  stack.defer(() => server[Symbol.asyncDispose]())
  async function startServer(life: number): Promise<Killable> {
    const args = [fixture('e2b-server'), String(port), options.faults ?? '0', `${seed}-${life}`]
    const process = startProcess('node', args, { env: { TMPDIR: folder } })
    await process.line()
    return process
  }

  /** Plays a session to its end, and kills its process when the count of what was played says so. */
  async function play(kind: 'e2b' | 'docker', name: string): Promise<void> {
    const journal = join(folder, `${name}.jsonl`)
    const args = [PLAYER, kind, String(commands), journal, fixture('docker-cli')]
    for (let life = 0; ; life += 1) {
      await using player = startProcess('node', args, { env })
      const until =
        life < kills / (2 * players) ? draws.int(1, Math.ceil((2 * commands * players) / kills)) : commands * 9
      for (let lines = 0; lines < until; lines += 1) {
        const line = await player.line()
        if (line === 'closed') return
        const [what = ''] = line.split(' ')
        if (what in counts) counts[what as keyof typeof counts] += 1
        if (kind === 'docker' && draws.chance(0.05)) {
          counts.containersLost += 1
          // The connection of the next one.
          await writeFile(join(docker, 'lose'), '')
        }
      }
      counts.playerKills += 1
    }
  }

  const playing = Promise.all(
    Array.from({ length: players }, (_, i) => [play('e2b', `e2b-${i}`), play('docker', `docker-${i}`)]).flat(),
  )
  let isOver = false
  const over = playing.finally(() => {
    isOver = true
  })
  for (let life = 1; life <= kills / 4 && !isOver; life += 1) {
    const before = counts.played
    const wait = draws.int(5, Math.ceil((4 * players * commands) / kills))
    await until(() => isOver || counts.played > before + wait, 'the players go on', 300)
    if (isOver) break
    await server[Symbol.asyncDispose]()
    server = await startServer(life)
    counts.serverKills += 1
  }
  await over

  let wrong = 0
  const whole = Array.from({ length: commands }, (_, i) => `${i}\n`).join('')
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.jsonl'))) {
    const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n')
    if (lines.length === commands && JSON.parse(lines.at(-1) ?? '') === whole) continue
    wrong += 1
    breaches.push(`${name} lost or doubled a command: ${lines.length} of ${commands}, ${lines.at(-1)}`)
  }

  // Nobody lives who would end them: their time to live does, and a container its own.
  const left = async () => {
    const { running } = (await (await fetch(`${url}/fake`)).json()) as { running: number }
    return running + readdirSync(docker).filter((name) => name.endsWith('.json')).length
  }
  await until(async () => (await left()) === 0, 'all boxes are gone', 30).catch(() => {})
  const orphans = await left()
  if (orphans > 0) breaches.push(`${orphans} boxes are left after their time to live.`)
  const folders = readdirSync(join(folder, `episodic-boxes-${process.getuid?.()}`)).length
  return { breaches, figures: { commands: 2 * players * commands, ...counts, wrong, orphans, folders } }
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
