#!/usr/bin/env node
import { main } from './lib/main.ts'

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})

process.exitCode = (await main(process.argv.slice(2))) || process.exitCode
