import { createRequire, syncBuiltinESMExports } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { Worker } from 'node:worker_threads'

/**
 * Makes every thread that this thread starts begin with a module: the shell runs JavaScript in threads of its own,
 * which need virtual time too. Call it before the shell is loaded.
 *
 * Returns what ends those that still run. The shell keeps some for the next command; but an engine that has run a
 * program may run another one differently.
 */
export function beginThreadsWith(module: URL): () => Promise<void> {
  const running = new Set<Worker>()
  const threads = createRequire(import.meta.url)('node:worker_threads') as typeof import('node:worker_threads')
  class PreparedWorker extends threads.Worker {
    constructor(file: string | URL, options?: ConstructorParameters<typeof threads.Worker>[1]) {
      const address = file instanceof URL || file.startsWith('file:') ? String(file) : pathToFileURL(file).href
      const code = `import(${JSON.stringify(module.href)}).then(() => import(${JSON.stringify(address)}))`
      super(code, { ...options, eval: true, env: {}, execArgv: [] })
      running.add(this)
      this.once('exit', () => running.delete(this))
    }
  }
  threads.Worker = PreparedWorker
  syncBuiltinESMExports()
  return async () => void (await Promise.all([...running].map((thread) => thread.terminate())))
}
