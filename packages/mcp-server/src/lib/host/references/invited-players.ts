import { type MethodResult, WireError } from '@episodic/protocol'
import { invalidParams } from '@episodic/protocol/internal'
import type { Principal } from '../access/caller.ts'
import {
  equalSecrets,
  type GameClaim,
  randomText,
  readGameClaim,
  type SessionTokens,
} from '../access/session-tokens.ts'
import type { CreatedGame, HostOptions, JoinedSeat, Players } from '../host.ts'
import { type AtOnce, type CachedSession, notFound } from '../sessions/session-cache.ts'
import { ResolvedSession, type SessionParts, type VerifiedToken } from './session-ref.ts'

/**
 * Sessions of several seats that a player creates and others join, without an opener at the trainer endpoint.
 *
 * All tokens are derived from the random name of the session, so nothing is stored for an invitation that nobody uses.
 * Who plays a seat is kept in the session's record.
 */
export function createInvitedPlayers(
  parts: Pick<SessionParts, 'factory' | 'sessions'>,
  reserved: HostOptions['reservedSeats'] = {},
) {
  return {
    async create(principal: Principal, { environment, seat }: Parameters<Players['create']>[1]): Promise<CreatedGame> {
      const { factory, sessions } = parts
      const tokens = await sessions.loadTokens()
      const game = randomText()
      const request = { environment, requestKey: `game ${game}` }
      const cached = await factory.open(principal, request, {
        id: tokens.gameId(game),
        seated: (seats) => {
          const chosen = seat ?? free(environment, seats)[0] ?? (seats[0] as string)
          if (!seats.includes(chosen))
            throw invalidParams(`There is no seat "${chosen}" in this session. The seats are: ${seats.join(', ')}.`)
          assertFree(environment, chosen)
          return { [chosen]: principal }
        },
      })
      const { seats, players = {} } = cached.session.record
      const [taken] = Object.keys(players) as [string]
      const placeOf = (name: string) => cached.environment.seats.indexOf(name)
      const others = free(environment, Object.keys(seats)).filter((name) => name !== taken)
      return {
        token: tokens.player({ game, seat: placeOf(taken) }, principal, 'creator'),
        seat: taken,
        invitations: Object.fromEntries(others.map((name) => [name, tokens.invitation({ game, seat: placeOf(name) })])),
      }
    },
    async join(principal: Principal, { environment, invitation }: Parameters<Players['join']>[1]): Promise<JoinedSeat> {
      const { sessions } = parts
      const tokens = await sessions.loadTokens()
      const claim = readGameClaim(invitation)
      if (!claim || !equalSecrets(tokens.invitation(claim), invitation)) throw notFound()
      const cached = await sessions.get(tokens.gameId(claim.game))
      if (cached.environment.name !== environment) throw notFound()
      const seat = cached.environment.seats[claim.seat] as string
      assertFree(environment, seat)
      await sessions.use(cached, (session) =>
        session.advance(({ record: { players = {} } }) => {
          if (!Object.hasOwn(players, seat)) return { players: { ...players, [seat]: principal } }
          if (players[seat] === principal) return null
          throw new WireError('seat-taken', `The seat ${seat} is taken: another client has used this invitation.`)
        }),
      )
      return { token: tokens.player(claim, principal, 'guest'), seat }
    },
  } satisfies Players

  function free(environment: string, seats: readonly string[]): readonly string[] {
    return seats.filter((seat) => !reserved[environment]?.includes(seat))
  }

  function assertFree(environment: string, seat: string): void {
    if (reserved[environment]?.includes(seat))
      throw new WireError('seat-taken', `The seat ${seat} is taken: this server plays it.`)
  }
}

interface VerifiedPlayer extends VerifiedToken {
  readonly environment: string
  readonly role: 'creator' | 'guest'
}

export function verifyPlayer(
  tokens: SessionTokens,
  principal: Principal,
  token: string,
  environment: string,
): VerifiedPlayer {
  const claim = readGameClaim(token)
  const role = claim && roleOf(tokens, principal, token, claim)
  if (!role) throw notFound()
  return { principal, id: tokens.gameId(claim.game), place: claim.seat, environment, role }
}

function roleOf(
  tokens: SessionTokens,
  principal: Principal,
  token: string,
  claim: GameClaim,
): VerifiedPlayer['role'] | null {
  if (equalSecrets(tokens.player(claim, principal, 'guest'), token)) return 'guest'
  return equalSecrets(tokens.player(claim, principal, 'creator'), token) ? 'creator' : null
}

export class PlayerSession extends ResolvedSession {
  readonly #verified: VerifiedPlayer

  constructor(parts: SessionParts, verified: VerifiedPlayer) {
    super(parts, verified)
    this.#verified = verified
  }

  /** Ends the episode for all its players. The record stays until it expires, so that each learns of the end. */
  override async close(): Promise<MethodResult<'close'>> {
    if (this.#verified.role !== 'creator')
      throw new WireError('unauthorized', 'A session is ended by the player who created it, and by no other.')
    return { end: (await this.parts.writer.close(await this.find(), ({ end }) => end === null)).end }
  }

  protected override find(): AtOnce<CachedSession> {
    const found = super.find()
    return found instanceof Promise ? found.then((cached) => this.#playing(cached)) : this.#playing(found)
  }

  #playing(cached: CachedSession): CachedSession {
    if (cached.environment.name !== this.#verified.environment) throw notFound()
    return cached
  }
}
