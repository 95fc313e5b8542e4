import { fileURLToPath } from 'node:url'
import type { ServerConfig } from '@episodic/agent'

/** Returns how to start a server of this example, from the URL of its file, its arguments and its environment. */
export function ownServer(
  url: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ServerConfig {
  return { command: process.execPath, args: [fileURLToPath(url), ...args], env }
}
