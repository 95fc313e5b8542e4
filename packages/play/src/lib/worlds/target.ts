import { type HttpTarget, parseMcpServers, type Target } from '@episodic/env'
import { invalidOption } from '@episodic/run/base/harness-error'
import { readOptionFile } from '@episodic/run/base/text-file'
import { findControlToken } from './serve/server-secrets.ts'
import { OWN_SERVERS, type Servers, type TargetOptions } from './target-options.ts'

export function isOtherSystem(target: Target | null): target is HttpTarget {
  return typeof target === 'object' && target !== null && 'url' in target && /^(ors|openenv):/.test(target.url)
}

/**
 * Returns the server that the options name; `null` if they name none.
 *
 * For a local server without a token, reads the control token that the server wrote for its user. Throws
 * `option-invalid`, and `config-invalid` for a malformed configuration.
 *
 * @param servers - the URLs that the command takes. Default: those of Episodic's own servers.
 */
export function targetOf(
  { url, token: given, config, server }: TargetOptions,
  { pattern, shown }: Servers = OWN_SERVERS,
): Target | null {
  const token = given ?? process.env.EPISODIC_TOKEN
  if (url !== undefined) {
    if (!URL.canParse(url) || !pattern.test(url))
      throw invalidOption(
        `--url ${url} is not a URL of a server: ${shown}. Give one such as http://127.0.0.1:7337/env.`,
      )
    // A secret of Episodic's is not sent to a server of another system.
    if (isOtherSystem({ url })) return { url, token: given }
    return { url, token: token ?? findControlToken(url) }
  }
  if (config === undefined) {
    if (server !== undefined) throw invalidOption('--server names a server of a --config file. Give --config too.')
    return null
  }
  let names: readonly string[] = []
  // An entry that is not used may be of a kind that only another program knows.
  const [target] = parseMcpServers(readOptionFile('--config', config), process.env, (all) => {
    names = all
    return server ?? (all.length === 1 ? all[0] : '')
  }).values()
  if (!target)
    throw invalidOption(
      `${server === undefined ? `${config} names several servers; choose one with --server.` : `${config} has no server "${server}".`} It has: ${names.join(', ')}.`,
    )
  return withToken(target, token)
}

function withToken(target: Target, token: string | undefined): Target {
  if (typeof target !== 'object' || !('url' in target)) return target
  const { headers, token: own } = target as HttpTarget
  const authorized = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'authorization')
  return authorized ? target : { ...target, token: own ?? token ?? findControlToken(target.url) }
}

export function requireTarget(options: TargetOptions): Target {
  const target = targetOf(options)
  if (!target) throw invalidOption('No server given. Give --url, or --config and --server.')
  return target
}
