import type { HttpOptions, JwtOptions } from '@episodic/mcp-server/http'
import type { JsonObject } from '@episodic/protocol'
import { invalidOption } from '@episodic/run/base/harness-error'
import { readTextOrFile } from '@episodic/run/base/option-values'
import { option } from '@episodic/run/base/options'
import { readTextFile } from '@episodic/run/base/text-file'
import { z } from 'zod'

const texts = z.array(z.string()).optional()

export const accessOptions = z.object({
  agentToken: option(
    '<name=token>',
    'token of a principal for the agent endpoint, or @<file> with it; repeatable',
    texts,
  ),
  controlToken: option(
    '<name=token>',
    'token of a principal for the trainer endpoint, limited to its own sessions, or @<file> with it; repeatable',
    texts,
  ),
  jwtIssuer: option('<issuer>', 'accept JSON Web Tokens of this issuer; their sub is the principal'),
  jwtAudience: option('<endpoint=audience>', 'required audience: agent=… or trainer=…; repeatable', texts),
  jwks: option('<url-or-file>', 'public keys of the issuer: an https URL or a file'),
  allowHost: option('<name>', 'accept this Host header besides the address; repeatable', texts),
  allowOrigin: option('<origin>', 'allow cross-origin requests (CORS) from this origin; repeatable', texts),
})
export type AccessFlags = z.infer<typeof accessOptions>

/** Throws `option-invalid` if an option is malformed, or if only some of the JSON Web Token options are given. */
export async function readAccess(flags: AccessFlags): Promise<Required<Pick<HttpOptions, 'auth' | 'allow'>>> {
  const jwt = await readJwt(flags)
  return {
    auth: {
      agentTokens: readTextOrFiles('--agent-token', flags.agentToken),
      controlTokens: readTextOrFiles('--control-token', flags.controlToken),
      ...(jwt && { jwt }),
    },
    allow: { hosts: flags.allowHost ?? [], origins: flags.allowOrigin ?? [] },
  }
}

function readTextOrFiles(option: string, texts: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [principal, token] = readPair(text) ?? invalid(`${option} ${text}: write <name>=<token>.`)
      return [readTextOrFile(token), principal]
    }),
  )
}

async function readJwt({ jwtIssuer: issuer, jwtAudience, jwks }: AccessFlags): Promise<JwtOptions | null> {
  if (issuer === undefined && jwtAudience === undefined && jwks === undefined) return null
  if (issuer === undefined || jwtAudience === undefined || jwks === undefined)
    return invalid('JSON Web Tokens need --jwt-issuer, --jwt-audience and --jwks together.')
  return { issuer, audience: readAudience(jwtAudience), jwks: await readKeys(jwks) }
}

function readAudience(texts: readonly string[]): JwtOptions['audience'] {
  const audience: { -readonly [K in keyof JwtOptions['audience']]: JwtOptions['audience'][K] } = {}
  for (const text of texts) {
    const [endpoint, value = ''] = readPair(text) ?? []
    if (endpoint === 'agent') audience.agent = value
    else if (endpoint === 'trainer') audience.trainer = value
    else invalid(`--jwt-audience ${text}: write agent=<audience> or trainer=<audience>.`)
  }
  return audience
}

async function readKeys(place: string): Promise<JwtOptions['jwks']> {
  if (/^https?:\/\//i.test(place)) return new URL(place)
  try {
    return JSON.parse(readTextFile(place)) as { keys: JsonObject[] }
  } catch (cause) {
    return invalid(`--jwks ${place} cannot be read: ${(cause as Error).message}`)
  }
}

function readPair(text: string): [name: string, value: string] | null {
  const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? []
  return name && value ? [name, value] : null
}

function invalid(message: string): never {
  throw invalidOption(message)
}
