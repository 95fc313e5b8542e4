import type { Host } from '@episodic/mcp-server'
import { type JsonObject, type LimitsRequest, METHOD_SCHEMAS, WireError } from '@episodic/protocol'
import { formatZodError, randomText } from '@episodic/protocol/internal'

export interface EpisodeRequest {
  readonly environment: string
  /** Default: the version that is served. */
  readonly version?: string | undefined
  readonly params?: JsonObject | undefined
  /** Any scalar of JSON; a number and the text of it are the same seed. Default: drawn by the host. */
  readonly seed?: unknown
  readonly limits?: LimitsRequest | undefined
  /** Names the session: opening again with the same key returns the same session. Default: a random one. */
  readonly requestKey?: string | undefined
}

/** Opens a session. Rejects with `invalid-params` for several seats too, and with the errors of `Host.open`. */
export async function openSession(
  host: Host,
  principal: string | null,
  { seed, requestKey = randomText(), ...rest }: EpisodeRequest,
) {
  const request = { ...rest, seed: seedText(seed), requestKey }
  const parsed = METHOD_SCHEMAS.open.params.safeParse(request)
  if (!parsed.success)
    throw new WireError('invalid-params', `Wrong parameters: ${formatZodError(parsed.error, request)}.`)
  assertOneSeat(host, rest.environment)
  const opened = await host.open(principal, parsed.data)
  return { opened, session: await host.resolve(principal, { by: 'control', token: opened.session }) }
}

function assertOneSeat({ environments }: Host, name: string): void {
  const seats = environments.find((environment) => environment.name === name)?.seats
  if (seats)
    throw new WireError(
      'invalid-params',
      `${name} has several seats (${seats.map((seat) => seat.name).join(', ')}), and this protocol plays one. Play it at the trainer endpoint, or at the session URLs of its seats.`,
    )
}

function seedText(seed: unknown): string | undefined {
  if (seed === undefined || seed === null) return undefined
  if (typeof seed === 'string' && seed !== '') return seed
  if (typeof seed === 'number' || typeof seed === 'boolean') return JSON.stringify(seed)
  throw new WireError('invalid-params', `A seed is a text that is not empty, or a number; got ${JSON.stringify(seed)}.`)
}
