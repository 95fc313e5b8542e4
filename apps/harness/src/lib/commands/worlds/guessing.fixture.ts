import { type Connection, connect } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { loadWorld } from '@episodic/play/worlds/world'
import { afterAll, beforeAll, vi } from 'vitest'
import { exampleWorld } from '../../fixtures/episodic.fixture.ts'

/**
 * Serves number-guessing in this process for the tests of a file, with these variables in its environment. Returns what
 * gives the connection to it.
 */
export function useGuessing(variables: Readonly<Record<string, string | undefined>>): () => Connection {
  const cleanUp = new AsyncDisposableStack()
  let connection: Connection
  beforeAll(async () => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    const { environment } = await loadWorld(exampleWorld('number-guessing'))
    const host = cleanUp.use(createHost({ environments: [environment] }))
    connection = cleanUp.use(await connect(inProcess(host)))
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await cleanUp.disposeAsync()
  })
  return () => connection
}
