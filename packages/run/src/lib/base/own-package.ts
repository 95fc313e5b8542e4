import { readFileSync } from 'node:fs'

/** Where the command is, from its source; the built one stands beside its `package.json`. */
const PACKAGE = import.meta.url.endsWith('.ts') ? '../../../../../apps/harness/package.json' : '../package.json'

export const VERSION: string = JSON.parse(readFileSync(new URL(PACKAGE, import.meta.url), 'utf8')).version
