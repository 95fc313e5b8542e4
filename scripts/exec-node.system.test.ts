import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { root } from './workspace.ts'

it('has a signal to the command of a clone reach its server', async () => {
  // What every installation does.
  execFileSync(process.execPath, [join(root, 'scripts/exec-node.mjs')])
  const home = mkdtempSync(join(tmpdir(), 'episodic-exec-'))
  const command = join(root, 'node_modules/.bin/episodic')
  const server = spawn(command, ['serve', 'number-guessing', '--port', '0', '--json'], {
    cwd: root,
    env: { ...process.env, EPISODIC_HOME: home },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void server.kill('SIGKILL'))
  const { value } = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next()
  const { agentUrl } = JSON.parse(String(value))
  const exited = once(server, 'exit')
  server.kill('SIGTERM')
  await exited
  await expect(fetch(agentUrl)).rejects.toThrow()
})
