#!/usr/bin/env node
import { main } from './lib/main.ts'

// A reader such as `head`, which closes the pipe early, does not cause a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = (await main(process.argv.slice(2))) || process.exitCode
