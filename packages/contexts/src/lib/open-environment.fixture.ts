import { openConnection } from '@episodic/env'
import { createHost, type Environment, openInProcess } from '@episodic/mcp-server'

/** A host in this process, and a client of it. */
export async function openEnvironment(environment: Environment) {
  const resources = new AsyncDisposableStack()
  const host = resources.use(createHost({ environments: [environment] }))
  const connection = resources.use(await openConnection(openInProcess(host)))
  return {
    environment: resources.use(connection.environment()),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}
