import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { type Killable, startProcess } from './start-process.ts'

/** A Redis server of this machine, on one port for as long as it is needed, however often it dies. */
export interface Redis extends AsyncDisposable {
  readonly url: string
  readonly process: Killable
  /** Where it keeps its files. */
  readonly folder: string
  /** `kill -9`. */
  kill(): Promise<void>
  /** Starts it again, with what its files hold; `folder` has it start on other files. */
  start(folder?: string): Promise<void>
}

/** When Redis syncs its append-only file. */
export type AppendSync = 'always' | 'everysec'

/**
 * Starts `redis-server` with an append-only file.
 *
 * @param sync - `always`, the default: the file is synced before each answer. With `everysec`, Redis holds writes back
 *   while a slow disk syncs, and loses them if it is killed then.
 */
export async function startRedis(folder: string, sync: AppendSync = 'always'): Promise<Redis> {
  const port = await freePort()
  const launch = async (): Promise<Killable> => {
    mkdirSync(folder, { recursive: true })
    const args = `--port ${port} --bind 127.0.0.1 --save  --appendonly yes --appendfsync ${sync} --dir`.split(' ')
    const started = startProcess('redis-server', [...args, folder])
    const missing = started.exited.catch((cause) => {
      throw new Error('There is no redis-server. Install it: apt-get install redis-server.', { cause })
    })
    missing.catch(() => {})
    try {
      while (!/ready to accept connections/i.test(await started.line()));
    } catch (error) {
      await missing
      throw error
    }
    return started
  }
  let running = await launch()
  return {
    url: `redis://127.0.0.1:${port}`,
    get process() {
      return running
    },
    get folder() {
      return folder
    },
    async kill() {
      await running[Symbol.asyncDispose]()
    },
    async start(other = folder) {
      folder = other
      running = await launch()
    },
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
