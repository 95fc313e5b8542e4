#!/usr/bin/env node
import { requireNode } from './lib/require-node.ts'

requireNode()
// Imported after that: an older Node could not load them.
const { main } = await import('./lib/main.ts')
process.exitCode = await main(process.argv.slice(2))
