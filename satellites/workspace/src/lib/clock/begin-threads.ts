import { createRequire, syncBuiltinESMExports } from 'node:module'
import { pathToFileURL } from 'node:url'

/**
 * Makes every thread that this thread starts begin with a module: the shell runs SQLite, JavaScript and Python in
 * threads of their own, which need virtual time too. Call it before the shell is loaded.
 */
export function beginThreadsWith(module: URL): void {
  const threads = createRequire(import.meta.url)('node:worker_threads') as typeof import('node:worker_threads')
  const { Worker } = threads
  class PreparedWorker extends Worker {
    constructor(file: string | URL, options?: ConstructorParameters<typeof Worker>[1]) {
      const address = file instanceof URL || file.startsWith('file:') ? String(file) : pathToFileURL(file).href
      const code = `import(${JSON.stringify(module.href)}).then(() => import(${JSON.stringify(address)}))`
      super(code, { ...options, eval: true, env: {}, execArgv: [] })
    }
  }
  threads.Worker = PreparedWorker
  syncBuiltinESMExports()
}
