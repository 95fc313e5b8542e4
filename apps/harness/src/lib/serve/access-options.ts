import { readFile } from 'node:fs/promises'
import type { AccessOptions, JwtOptions } from '@episodic/mcp-server/http'
import type { JsonObject } from '@episodic/protocol'
import type { Command } from 'commander'
import { HarnessError } from '../harness-error.ts'
import { collect } from '../option-values.ts'

/** Who may come in, as the command line says it. */
export interface AccessFlags {
  readonly allowHost?: readonly string[]
  readonly allowOrigin?: readonly string[]
  readonly agentToken?: readonly string[]
  readonly controlToken?: readonly string[]
  readonly jwtIssuer?: string
  readonly jwtAudience?: readonly string[]
  readonly jwks?: string
}

export function withAccessOptions(command: Command): Command {
  return command
    .option(
      '--agent-token <name=token>',
      'admit a principal to the agent endpoint; may be given several times',
      collect,
    )
    .option(
      '--control-token <name=token>',
      'admit a principal to the trainer endpoint, to sessions of its own',
      collect,
    )
    .option('--jwt-issuer <issuer>', 'admit whoever has a JSON Web Token of this issuer')
    .option('--jwt-audience <door=audience>', 'what such a token is for: agent=… or trainer=…, or both', collect)
    .option('--jwks <url-or-file>', "the issuer's public keys")
    .option('--allow-host <name>', 'serve this Host besides the address; may be given several times', collect)
    .option('--allow-origin <origin>', 'let pages of this origin call, with CORS; may be given several times', collect)
}

/** Reads the options. Throws `option-invalid` for those that do not say whom to admit. */
export async function readAccess(flags: AccessFlags): Promise<AccessOptions> {
  const jwt = await readJwt(flags)
  return {
    allowedHosts: flags.allowHost ?? [],
    allowedOrigins: flags.allowOrigin ?? [],
    agentTokens: readTokens('--agent-token', flags.agentToken),
    controlTokens: readTokens('--control-token', flags.controlToken),
    ...(jwt && { jwt }),
  }
}

function readTokens(option: string, texts: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [principal, token] = readPair(text) ?? invalid(`${option} ${text} is not written as name=token.`)
      return [token, principal]
    }),
  )
}

async function readJwt({ jwtIssuer: issuer, jwtAudience, jwks }: AccessFlags): Promise<JwtOptions | null> {
  if (issuer === undefined && jwtAudience === undefined && jwks === undefined) return null
  if (issuer === undefined || jwtAudience === undefined || jwks === undefined)
    return invalid('JSON Web Tokens want all of --jwt-issuer, --jwt-audience and --jwks.')
  return { issuer, audience: readAudience(jwtAudience), jwks: await readKeys(jwks) }
}

function readAudience(texts: readonly string[]): JwtOptions['audience'] {
  return Object.fromEntries(
    texts.map((text) => {
      const pair = readPair(text)
      if (pair?.[0] === 'agent' || pair?.[0] === 'trainer') return pair
      return invalid(`--jwt-audience ${text} is not written as agent=audience or trainer=audience.`)
    }),
  )
}

async function readKeys(place: string): Promise<JwtOptions['jwks']> {
  if (/^https?:\/\//i.test(place)) return new URL(place)
  try {
    return JSON.parse(await readFile(place, 'utf8')) as { keys: JsonObject[] }
  } catch (cause) {
    return invalid(`--jwks ${place} cannot be read: ${(cause as Error).message}`)
  }
}

function readPair(text: string): [name: string, value: string] | null {
  const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? []
  return name && value ? [name, value] : null
}

function invalid(message: string): never {
  throw new HarnessError('option-invalid', message)
}
