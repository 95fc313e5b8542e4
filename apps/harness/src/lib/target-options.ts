import { readFileSync } from 'node:fs'
import { type HttpTarget, parseMcpServers, type Target } from '@episodic/env'
import { HarnessError } from './harness-error.ts'
import { findControlToken } from './serve/control-token.ts'

/** The options that name a server, the same for every command. */
export interface TargetOptions {
  readonly url?: string
  readonly token?: string
  readonly config?: string
  readonly server?: string
}

/**
 * The server that the options name; `null` where they name none.
 *
 * A server on this machine without a token is given the control token that it left for its own user. Throws
 * `option-invalid`, and `config-invalid` for a configuration that is wrong.
 */
export function targetOf({ url, token = process.env.EPISODIC_TOKEN, config, server }: TargetOptions): Target | null {
  if (url !== undefined) {
    if (!URL.canParse(url) || !/^(https?|wss?|tcp|unix):$/.test(new URL(url).protocol))
      throw new HarnessError(
        'option-invalid',
        `--url ${url} is not a URL of http(s), ws(s), tcp or unix, such as http://127.0.0.1:7337/env.`,
      )
    return { url, token: token ?? findControlToken(url) }
  }
  if (config === undefined) {
    if (server !== undefined)
      throw new HarnessError('option-invalid', '--server names a server of a --config file; give that too.')
    return null
  }
  const servers = parseMcpServers(readConfig(config), process.env)
  const names = [...servers.keys()]
  const name = server ?? (names.length === 1 ? names[0] : undefined)
  const target = name === undefined ? undefined : servers.get(name)
  if (!target)
    throw new HarnessError(
      'option-invalid',
      `${name === undefined ? `${config} names several servers; choose one with --server.` : `${config} has no server "${name}".`} It has: ${names.join(', ')}.`,
    )
  return withToken(target, token)
}

/** Adds the options that name a server to a command. */
export function addTargetOptions<C extends { option(flags: string, description: string): C }>(command: C): C {
  return command
    .option('--url <url>', 'a server to connect to: http://…, ws://…, tcp://<host>:<port> or unix:<path>')
    .option(
      '--token <token>',
      'its bearer token (or EPISODIC_TOKEN; found by itself for a server of yours on this machine)',
    )
    .option('--config <file>', 'an mcpServers JSON file that names servers')
    .option('--server <name>', 'which server of the file')
}

function withToken(target: Target, token: string | undefined): Target {
  if (typeof target !== 'object' || !('url' in target)) return target
  const { headers, token: own } = target as HttpTarget
  const authorized = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'authorization')
  return authorized ? target : { ...target, token: own ?? token ?? findControlToken(target.url) }
}

function readConfig(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new HarnessError('option-invalid', `--config ${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
}
