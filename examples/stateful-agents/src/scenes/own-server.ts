import { fileURLToPath } from 'node:url'
import type { ServerConfig } from '@episodic/agent'

/** Says how one of the servers of this example is started: the URL of its file, its arguments and its environment. */
export function ownServer(
  url: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ServerConfig {
  return { command: process.execPath, args: [fileURLToPath(url), ...args], env }
}
