import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Whether this runs from its source, as opposed to the built package, whose files are all in one folder. */
const fromSource = import.meta.url.endsWith('.ts')

export const VERSION: string = JSON.parse(
  readFileSync(new URL(fromSource ? '../../../package.json' : '../package.json', import.meta.url), 'utf8'),
).version

/** The file of the `episodic` command. */
export const CLI: string = fileURLToPath(new URL(fromSource ? '../../cli.ts' : './cli.js', import.meta.url))
