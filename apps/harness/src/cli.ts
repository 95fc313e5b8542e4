#!/usr/bin/env node
import { requireNode } from 'create-episodic/internal'

requireNode()
// Imported after that: an older Node could not load them.
const { enableCompileCache } = await import('node:module')
// Compiled code is kept in a folder for temporary files, and another start takes about half as long. Node leaves it out
// where that cannot be written, or where NODE_DISABLE_COMPILE_CACHE is set.
enableCompileCache()
const { main } = await import('./lib/commands/main.ts')

// A reader such as `head`, which closes the pipe early, does not cause a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})
async function watchThread(): Promise<void> {
  const { watchMainThread } = await import('@episodic/run/base/main-thread-watch')
  watchMainThread()
}

process.exitCode = (await main(process.argv.slice(2), undefined, watchThread)) || process.exitCode
