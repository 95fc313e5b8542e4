import {
  type CommandTarget,
  type HttpTarget,
  parseConfigText,
  parseMcpConfig,
  urlEntrySchema,
} from '@episodic/mcp-client'
import { EnvError } from '../env-error.ts'

/**
 * Reads an `mcpServers` configuration, as desktop clients keep it, from its JSON text: named servers, each a URL or a
 * command. `${NAME}`, `${env:NAME}` and `${NAME:-text}` in any value are replaced from `variables`, so that the file
 * needs no tokens. Comments and what other programs write into an entry are ignored.
 *
 * Throws `config-invalid`, naming the server and the field.
 *
 * @param only - the only server that is checked and returned, or what chooses it among the names of those
 * that are enabled. Default: all that are enabled.
 */
export function parseMcpServers(
  text: string,
  variables: Readonly<Record<string, string | undefined>>,
  only?: string | ((enabled: readonly string[]) => string | undefined),
): Map<string, HttpTarget | CommandTarget> {
  const fail = (message: string, cause?: unknown) => new EnvError('config-invalid', message, { cause })
  return parseMcpConfig(readConfig(text), { urlSchema: urlEntrySchema, only, variables, fail })
}

function readConfig(text: string): unknown {
  try {
    return parseConfigText(text)
  } catch (cause) {
    throw new EnvError('config-invalid', `The configuration is not JSON: ${(cause as Error).message}.`, { cause })
  }
}
