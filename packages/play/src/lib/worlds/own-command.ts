import { fileURLToPath } from 'node:url'

/** The file of the `episodic` command: beside the built files, which are all in one folder. */
export const CLI: string = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../../../apps/harness/src/cli.ts' : './cli.js', import.meta.url),
)
