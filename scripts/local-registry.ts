import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../interop/free-port.ts'
import type { EmptyProject } from './empty-project.ts'
import { publishPacked, type RunNpm } from './release/publish.ts'
import { runCommand } from './run-command.ts'

/** Verdaccio, a registry to run oneself. Its own choice of `node-fetch` is a tag that not every registry has. */
const REGISTRY = { private: true, dependencies: { verdaccio: '6.10.4' }, overrides: { 'node-fetch': '2.7.0' } }

/** A registry that has the packages of this workspace as they would be published, and passes on everything else. */
export interface LocalRegistry extends AsyncDisposable {
  readonly url: string
}

/**
 * Starts a registry in a folder of the project, and publishes the packed packages there, as a release does. A release
 * that is begun again uploads nothing twice.
 */
export async function startRegistry({ folder, run }: EmptyProject, tarballs: string): Promise<LocalRegistry> {
  const place = join(folder, 'registry')
  await mkdir(place)
  await writeFile(join(place, 'package.json'), JSON.stringify(REGISTRY))
  await run(['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline'], place)
  // Warnings of npm may stand before it.
  const upstream = /^https?:\S+$/m.exec(await run(['npm', 'config', 'get', 'registry'], place))?.[0]
  if (!upstream) throw new Error('npm names no registry.')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  await writeFile(join(place, 'config.yaml'), configuration(upstream, port))
  const server = spawn(process.execPath, ['node_modules/verdaccio/bin/verdaccio', '--config', 'config.yaml'], {
    cwd: place,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(server, 'exit')
  const registry = {
    url,
    async [Symbol.asyncDispose]() {
      server.kill()
      await ended
    },
  }
  try {
    while (!(await fetch(url).then(Boolean, () => false)))
      await Promise.race([
        new Promise(setImmediate),
        ended.then(() => Promise.reject(new Error('The registry ended.'))),
      ])
    // npm publishes to nobody without a token, and this registry takes any.
    await writeFile(join(place, '.npmrc'), `//${new URL(url).host}/:_authToken=anybody\n`)
    const npm: RunNpm = (args) => runCommand(['npm', ...args, '--registry', url], { folder: place })
    const uploaded = await publishPacked(tarballs, npm)
    const again = await publishPacked(tarballs, npm)
    if (uploaded.length === 0 || again.length > 0)
      throw new Error(`Published: ${uploaded.join(', ')}; when begun again: ${again.join(', ')}.`)
    return registry
  } catch (error) {
    await registry[Symbol.asyncDispose]()
    throw error
  }
}

function configuration(upstream: string, port: number): string {
  const ours = 'access: $all\n    publish: $all'
  return `storage: ./storage
listen: 127.0.0.1:${port}
uplinks:
  upstream:
    url: ${upstream}
packages:
  '{episodic,create-episodic,@episodic/*}':
    ${ours}
  '**':
    access: $all
    proxy: upstream
log: { type: stdout, level: error }
`
}
