import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { root } from './workspace.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const CLI = join(root, 'apps/harness/src/cli.ts')

/** The command of a server in the job that builds the image, with any free port. */
function serveArgs(): readonly string[] {
  const { jobs } = parse(read('.github/workflows/ci.yml'))
  const lines: string[] = jobs.image.steps.flatMap(({ run = '' }) => String(run).replaceAll('\\\n', ' ').split('\n'))
  const [, args = ''] = lines.map((line) => / episodic (serve .*)$/.exec(line)).find((found) => found) ?? []
  return args.trim().replace('--port 7337', '--port 0').split(/\s+/)
}

/** Runs the health check of the image. */
function isHealthy(url: string): boolean {
  const [, command = '[]'] = /HEALTHCHECK .*\\\n\s+CMD (\[.*\])/.exec(read('deploy/Dockerfile')) ?? []
  const [, ...args] = JSON.parse(command) as readonly string[]
  return spawnSync(process.execPath, args, { env: { HEALTH_URL: url } }).status === 0
}

it('the server of the image is healthy once it listens, and ends well when it is stopped', async () => {
  const server = spawn(process.execPath, [CLI, ...serveArgs(), '--json'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void server.kill('SIGKILL'))
  const exited = once(server, 'exit')
  const started = once(createInterface({ input: server.stdout }), 'line')
  const [line] = await Promise.race([started, exited.then(() => Promise.reject(new Error('The server did not start')))])
  const { port } = new URL(JSON.parse(line).agentUrl)
  const url = `http://127.0.0.1:${port}/readyz`
  expect(isHealthy(url)).toBe(true)
  server.kill('SIGTERM')
  expect(await exited).toEqual([0, null])
  expect(isHealthy(url)).toBe(false)
})
