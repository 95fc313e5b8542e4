import { drawSecret } from '@episodic/protocol/internal'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'

/** What a token claims to be, before it is verified. */
export type Claim =
  | { readonly kind: 'control'; readonly id: string }
  | { readonly kind: 'capability' | 'seat'; readonly id: string; readonly seat: number }

/** The session, by its random name, and the place of the seat that a player's token or an invitation is for. */
export interface GameClaim {
  readonly game: string
  readonly seat: number
}

function toClaimText(claim: readonly string[]): string {
  let text = ''
  for (const part of claim) text += `${part.length}:${part}`
  return text
}

/** 128 bits in base64url. */
const DIGITS = 22

/** How many proofs are cached. Others are derived again. */
const REMEMBERED = 16_384

/**
 * The secrets of a session. An id only names a session; a handle proves a right to it.
 *
 * Every secret is an HMAC-SHA256 under the store's own key, so there is no table to keep or lose: a restarted
 * server, or another one on the same store, derives the same handles. Each proves 128 bits.
 */
export type SessionTokens = ReturnType<typeof createSessionTokens>

export function createSessionTokens(secret: Uint8Array) {
  const sign = signerOf(secret)
  const prove = (...claim: readonly string[]): string => sign(toClaimText(claim))
  // Every call of a plain client needs the same proofs. Those of a session's own handles are kept with the session.
  const proofs = new Map<string, string>()
  const proveAgain = (...claim: readonly string[]): string => {
    const text = toClaimText(claim)
    const known = proofs.get(text)
    if (known !== undefined) return known
    const proof = sign(text)
    if (proofs.size >= REMEMBERED) proofs.clear()
    proofs.set(text, proof)
    return proof
  }
  return {
    /** The session id of an opener's request key: the same key of the same principal always names the same session. */
    idFor: (principal: string | null, requestKey: string): string =>
      asWord(prove('id', toPrincipalName(principal), requestKey)),
    /** The same for a key that asks for many, at most 1,296: their ids differ in the last two digits, in order. */
    idsFor(principal: string | null, requestKey: string, count: number): string[] {
      const root = asWord(prove('ids', toPrincipalName(principal), requestKey)).slice(0, -2)
      return Array.from({ length: count }, (_, place) => root + place.toString(36).padStart(2, '0'))
    },
    // Joined: every call compares them, and the parts that a template keeps are ten times as slow to read.
    /** The secret that steps, watches and closes a session at the trainer endpoint. Valid for its owner only. */
    control: (id: string, owner: string | null) => ['ctl_', id, prove('control', id, toPrincipalName(owner))].join(''),
    /** The secret that steps one seat of a session at the trainer endpoint. */
    seatHandle: (id: string, seat: number) => ['sct_', seat.toString(36), id, prove('seat', id, String(seat))].join(''),
    /** The secret that plays one seat of a session at the agent endpoint. */
    capability: (id: string, seat: number) =>
      ['cap_', seat.toString(36), id, prove('capability', id, String(seat))].join(''),
    /** The session id of a random name: of a session that its players create and join by themselves. */
    gameId: (game: string) => proveAgain('game', game),
    /** The secret with which a principal plays a seat of such a session. Its creator may also end it. */
    player: ({ game, seat }: GameClaim, principal: string | null, role: 'creator' | 'guest') =>
      `ply_${seat.toString(36)}${game}${proveAgain('player', role, game, String(seat), toPrincipalName(principal))}`,
    /** The secret with which a client takes a seat of such a session. */
    invitation: ({ game, seat }: GameClaim) =>
      `inv_${seat.toString(36)}${game}${proveAgain('invitation', game, String(seat))}`,
    /**
     * The `Mcp-Session-Id` of a plain client, which proves that this server issued it, to whom, and when. With
     * `earlier`, it has the random part of that id, and so the same seed.
     */
    transport(principal: string | null, issuedAt: number, earlier?: string): string {
      const name = `${earlier === undefined ? randomText() : randomPartOf(earlier)}.${issuedAt.toString(36)}`
      return `mcp_${name}.${proveAgain('transport', toPrincipalName(principal), name)}`
    },
    /** The seed of the session that a transport id opens: 128 secret bits, derived from the id's random part. */
    seedOf: (transportId: string) => proveAgain('seed', randomPartOf(transportId)),
    /** Returns when a transport id was issued; `null` for one not issued here, or issued to another client. */
    transportIssuedAt(principal: string | null, transportId: string): number | null {
      const parts = /^mcp_([\w-]{22}\.([0-9a-z]{1,11}))\.([\w-]{22})$/.exec(transportId)
      if (!parts) return null
      const [, name, issuedAt, proof] = parts as unknown as [string, string, string, string]
      return equalSecrets(proof, proveAgain('transport', toPrincipalName(principal), name))
        ? Number.parseInt(issuedAt, 36)
        : null
    },
  }
}

/** Returns an id that can be given to a command: there, a word that begins with a dash is an option. */
function asWord(id: string): string {
  return id.replace(/^-/, 'A')
}

/** Node's own hash, if there is one: a session has three proofs when it is opened. */
const nodeHash = globalThis.process?.getBuiltinModule?.('node:crypto')?.hash ?? null

/** Returns a function that derives the proof of a text: the first 128 bits of its HMAC-SHA-256 in base64url. */
export function signerOf(secret: Uint8Array, native: typeof nodeHash | null = nodeHash): (text: string) => string {
  if (native) return nativeSignerOf(secret, native)
  const keyed = hmac.create(sha256, secret)
  return (text) => base64url(keyed.clone().update(encoder.encode(text)).digest().subarray(0, 16))
}

const BLOCK = 64
const DIGEST = 32

/** HMAC by its definition (RFC 2104), two hashes at a time: an object for each HMAC costs three times as much. */
function nativeSignerOf(secret: Uint8Array, hash: typeof nodeHash & object): (text: string) => string {
  const key = Buffer.alloc(BLOCK)
  key.set(secret.length > BLOCK ? hash('sha256', secret, 'buffer') : secret)
  const inner = Buffer.from(key.map((byte) => byte ^ 0x36))
  const outer = Buffer.concat([key.map((byte) => byte ^ 0x5c), Buffer.alloc(DIGEST)])
  return (text) => {
    outer.write(hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'binary'), BLOCK, 'latin1')
    return Buffer.from(hash('sha256', outer, 'binary').slice(0, 16), 'latin1').toString('base64url')
  }
}

const encoder = new TextEncoder()

function randomPartOf(transportId: string): string {
  return transportId.slice('mcp_'.length).split('.', 1)[0] as string
}

/** Returns a name of a principal for the HMAC. The name of an anonymous caller is one that no principal can have. */
function toPrincipalName(principal: string | null): string {
  return principal === null ? 'anonymous' : `principal ${principal}`
}

export function readClaim(handle: string): Claim | null {
  if (handle.length === 4 + 2 * DIGITS && handle.startsWith('ctl_'))
    return { kind: 'control', id: handle.slice(4, 4 + DIGITS) }
  const kind = SEAT_KINDS[handle.slice(0, 4)]
  if (handle.length === 5 + 2 * DIGITS && kind)
    return { kind, id: handle.slice(5, 5 + DIGITS), seat: Number.parseInt(handle.charAt(4), 36) }
  return null
}

/** What tokens of one seat claim to be, by their first characters. */
const SEAT_KINDS: { readonly [prefix: string]: 'capability' | 'seat' } = { cap_: 'capability', sct_: 'seat' }

/** Returns what the token of a player or an invitation claims; `null` if it does not have the form of one. */
export function readGameClaim(token: string): GameClaim | null {
  const [, seat, game] = /^(?:ply|inv)_([0-9a-z])([\w-]{22})[\w-]{22}$/.exec(token) ?? []
  return seat === undefined || game === undefined ? null : { game, seat: Number.parseInt(seat, 36) }
}

/** Compares two secrets in a time that depends on their length alone. */
export function equalSecrets(a: string, b: string): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}

/** 128 random bits as text: seeds, references, and whatever must not be guessed. */
export function randomText(): string {
  return base64url(drawSecret())
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(
    /[+/=]/g,
    (digit) => ({ '+': '-', '/': '_', '=': '' })[digit] as string,
  )
}
