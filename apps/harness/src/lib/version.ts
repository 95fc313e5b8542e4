import { readFileSync } from 'node:fs'

/** The version of this package: its manifest lies one folder above its sources, and one above what is built of them. */
export const VERSION: string = JSON.parse(
  readFileSync(
    new URL(import.meta.url.endsWith('.ts') ? '../../package.json' : '../package.json', import.meta.url),
    'utf8',
  ),
).version
