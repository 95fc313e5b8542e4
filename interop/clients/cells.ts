import type { World } from '../worlds/world.ts'
import { type Client, type ProtocolVersion, TRANSPORTS, type Transport, type View } from './client.ts'
import { findLeaks } from './find-leaks.ts'
import { playConnection } from './play-connection.ts'
import type { ServedWorlds } from './serve-worlds.ts'

/** One cell of the matrix. */
export interface Cell {
  readonly client: Client
  readonly world: World
  readonly protocol: ProtocolVersion
  readonly transport: Transport
}

/** A cell that was played. */
export interface PlayedCell extends Cell {
  /** What went wrong; `null` if nothing did. */
  readonly problem: string | null
  /** Every byte that the client received. */
  readonly received: string
}

/** Lists every world with every client, in each protocol version that the client supports, over each transport. */
export function listCells(clients: readonly Client[], worlds: readonly World[]): readonly Cell[] {
  return clients.flatMap((client) =>
    client.protocols.flatMap((protocol) =>
      TRANSPORTS.flatMap((transport) => worlds.map((world) => ({ client, world, protocol, transport }))),
    ),
  )
}

/** Returns the name of a cell. */
export function formatCell({ client, world, protocol, transport }: Cell): string {
  return `${client.name} ${protocol} ${transport} ${world.name}`
}

/** Plays all connections of a cell. */
export async function playCell(cell: Cell, served: ServedWorlds): Promise<PlayedCell> {
  let received = ''
  for (const views of cell.client.plays) {
    const play = await playOnce(cell, views, served)
    received += play.received
    if (play.problem !== null) return { ...cell, problem: play.problem, received }
  }
  return { ...cell, problem: null, received }
}

async function playOnce(
  { client, world, protocol, transport }: Cell,
  views: readonly [View, View],
  served: ServedWorlds,
): Promise<Pick<PlayedCell, 'problem' | 'received'>> {
  const { place, received } = transport === 'http' ? served.overHttp(world) : served.overStdio(world)
  let problem: string | null = null
  try {
    await using connection = await client.connect({ place, protocol, view: views[0] })
    if (connection.protocol !== null && connection.protocol !== protocol)
      throw new Error(`The client negotiated ${connection.protocol} in place of ${protocol}.`)
    await playConnection({ connection, world, sends: client.sends }, views)
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error)
  }
  return { problem, received: await received() }
}

/**
 * Searches everything that the clients received for what no player may see, and resolves with the cells and the
 * problems found. Call it when everything is played: it reads the seeds from the stores, and stops the server for that.
 */
export async function findAllLeaks(
  played: readonly PlayedCell[],
  served: ServedWorlds,
): Promise<readonly PlayedCell[]> {
  const seeds = await served.seeds()
  // Without seeds, the search would find nothing.
  const expected = 2 * played.filter(({ problem }) => problem === null).length
  if (seeds.length < expected) throw new Error(`${expected} episodes left only ${seeds.length} sessions in the stores.`)
  return played.map((cell) => {
    const leaks = findLeaks(cell.received, cell.world, seeds)
    return leaks.length === 0 ? cell : { ...cell, problem: `The client received ${leaks.join(', ')}.` }
  })
}
