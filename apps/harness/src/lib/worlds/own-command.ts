import { fileURLToPath } from 'node:url'

/** The file of the `episodic` command: beside the built files, which are all in one folder. */
export const CLI: string = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../cli.ts' : './cli.js', import.meta.url),
)
