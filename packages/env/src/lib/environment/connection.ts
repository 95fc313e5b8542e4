import type { EnvironmentInfo } from '@episodic/protocol'
import { EnvError } from '../env-error.ts'
import type { Environment } from './environment.ts'
import type { WatchedEnvironment } from './watched-environment.ts'

/** A connection to a server of environments. Any number of episodes may be played over it at once. */
export interface Connection extends AsyncDisposable {
  readonly environments: readonly EnvironmentInfo[]
  /**
   * An environment of its own over this connection: by default of the first world. Throws `option-invalid` for a name
   * that the server does not have.
   */
  environment(name?: string): Environment
  /**
   * The same, for somebody else to play at the session's address. Throws `option-invalid` too where an external server keeps
   * the state: nobody can watch there.
   */
  watched(name?: string): WatchedEnvironment
  /** Closes the connection; a server that was started for it is stopped. Safe to call twice. */
  close(): Promise<void>
}

/** Makes the connection of worlds, ways to make an environment of one, and a way to close. */
export function createConnection(
  environments: readonly EnvironmentInfo[],
  create: (info: EnvironmentInfo) => Environment,
  watch: (info: EnvironmentInfo) => WatchedEnvironment,
  close: () => Promise<void>,
): Connection {
  const find = (name = environments[0]?.name) => {
    const info = environments.find((environment) => environment.name === name)
    if (info) return info
    const names = environments.map((environment) => environment.name).join(', ')
    throw new EnvError('option-invalid', `The server has no environment "${name}". It has: ${names || 'none'}.`)
  }
  return {
    environments,
    environment: (name) => create(find(name)),
    watched: (name) => watch(find(name)),
    close,
    [Symbol.asyncDispose]: close,
  }
}
