import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { HttpTarget } from '@episodic/env'

const CLI = fileURLToPath(new URL('./cli.ts', import.meta.resolve('@episodic/harness')))
const TOKEN = 'the-control-token-of-the-corpus'

/** Serves a world that a module of worlds exports, in a process of its own: `episodic serve --openenv`. */
export async function serveWorld(module: string, name: string): Promise<HttpTarget & AsyncDisposable> {
  await using cleanUp = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'episodic-corpus-'))
  cleanUp.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const file = join(folder, 'world.mjs')
  const found = `[PLANTED, HONEST, DEFECTS].flat().find(({ world }) => world.environment.name === ${JSON.stringify(name)})`
  const lines = [
    `import { DEFECTS, HONEST, PLANTED } from ${JSON.stringify(module)}`,
    `export const { environment } = ${found}.world`,
  ]
  await writeFile(file, lines.join('\n'))
  const args = [CLI, 'serve', file, '--openenv', '--port', '0', '--json', '--log-level', 'warn']
  const server = spawn(process.execPath, args, {
    env: { ...process.env, EPISODIC_HOME: folder, EPISODIC_CONTROL_TOKEN: TOKEN },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit')
  cleanUp.defer(async () => {
    // `serve --json` stops when its input ends.
    server.stdin.end()
    await ended
  })
  const line = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next()
  if (line.done) throw new Error(`episodic serve ended before it served ${name}.`)
  const { openEnvUrls } = JSON.parse(line.value) as { openEnvUrls: readonly [string] }
  const owned = cleanUp.move()
  return { url: `openenv:${openEnvUrls[0]}`, token: TOKEN, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
