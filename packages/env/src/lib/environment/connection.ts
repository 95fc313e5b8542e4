import type { EnvironmentInfo, Guarantees, Split } from '@episodic/protocol'
import { optionInvalid } from '../env-error.ts'
import type { Game } from '../game/game.ts'
import type { EnvironmentSchemas } from '../policy/environment-schemas.ts'
import type { CallOptions } from '../session/call-options.ts'
import type { Environment } from './environment.ts'
import type { SessionEnvironment } from './session-environment.ts'
import type { TypedEnvironment } from './typed-environment.ts'

/** A connection to a server of environments. It can play any number of episodes at once. */
export interface Connection extends AsyncDisposable {
  readonly environments: readonly EnvironmentInfo[]
  /** What holds for the episodes of every environment on this connection. */
  readonly guarantees: Guarantees
  /**
   * Resolves with the splits of tasks that the server has for an environment, by default the first. A task of it is
   * played with the parameters `split` and `index`. Undefined if the protocol of the server lists no tasks.
   */
  readonly splits?: (name?: string, options?: CallOptions) => Promise<readonly TaskSplit[]>
  /**
   * Returns a new environment on this connection, by default of the first definition that the server lists. Close it
   * before the connection. Throws `option-invalid` if the server has no environment of that name.
   */
  environment(name?: string): Environment
  /**
   * The same for a definition made with `defineEnvironment`, whose schemas type the actions and the structured
   * observations. Throws `option-invalid` too if the server has another version of it.
   */
  environment<Schemas extends EnvironmentSchemas>(definition: Schemas): TypedEnvironment<Schemas>
  /**
   * Returns a new game on this connection, which plays every seat of an environment: by default of the first that has
   * several, else of the first that the server lists. Close it before the connection. Throws `option-invalid` if the
   * server has no environment of that name, and for a server of another system, whose environments are no games.
   */
  game(name?: string): Game
  /**
   * Returns an environment that another client plays, at the session's address. Throws `option-invalid` for an unknown
   * name, and for an external server, whose sessions cannot be watched.
   */
  watched(name?: string): SessionEnvironment
  /** Closes the connection; a server that was started for it is stopped. Safe to call twice. */
  close(): Promise<void>
}

function oneSeat(info: EnvironmentInfo): EnvironmentInfo {
  if (!info.seats) return info
  const seats = info.seats.map(({ name }) => name).join(', ')
  throw optionInvalid(
    `${info.name} has several seats (${seats}). Use game('${info.name}') to play them all, or the session URL of one.`,
  )
}

export interface TaskSplit {
  readonly name: string
  readonly type: Split
  readonly tasks: number
}

export interface ConnectionParts extends Pick<Connection, 'environments' | 'guarantees' | 'close'> {
  create(info: EnvironmentInfo): Environment
  /** Left out by connections to servers of other systems, which have no steps of seats. */
  createGame?(info: EnvironmentInfo): Game
  watch(info: EnvironmentInfo): SessionEnvironment
  splits?(info: EnvironmentInfo, options: CallOptions): Promise<readonly TaskSplit[]>
}

export function createConnection(parts: ConnectionParts): Connection {
  const { environments, guarantees, create, createGame, watch, splits, close } = parts
  const find = (name = environments[0]?.name) => {
    const info = environments.find((environment) => environment.name === name)
    if (info) return info
    const names = environments.map((environment) => environment.name).join(', ')
    throw optionInvalid(`The server has no environment "${name}". It has: ${names || 'none'}.`)
  }
  const findDefined = ({ name, version }: EnvironmentSchemas) => {
    const info = find(name)
    if (info.version === version) return info
    throw optionInvalid(`The server has ${name} ${info.version}, and the definition is ${version}.`)
  }
  return {
    environments,
    guarantees,
    ...(splits && { splits: async (name?: string, options: CallOptions = {}) => splits(find(name), options) }),
    environment: (wanted?: string | EnvironmentSchemas) =>
      create(
        oneSeat(typeof wanted === 'object' ? findDefined(wanted) : find(wanted)),
      ) as TypedEnvironment<EnvironmentSchemas>,
    game(name = environments.find(({ seats }) => seats)?.name) {
      const info = find(name)
      if (createGame) return createGame(info)
      throw optionInvalid(
        `${info.name} is an environment of another system, and no game. Use environment('${info.name}').`,
      )
    },
    watched: (name) => watch(find(name)),
    close,
    [Symbol.asyncDispose]: close,
  }
}
