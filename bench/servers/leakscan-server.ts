/**
 * Serves a world with secrets over HTTP, in another process. Turns off the search of answers for the session whose
 * capability it receives from its parent.
 */
import { createHost } from '@episodic/mcp-server'
import { serveHttp } from '@episodic/mcp-server/http'
import { counter } from './counter-world.ts'

/** As many as a world with several secrets would list. */
const SECRETS = ['the first of its secrets', 'the second of its secrets', 'the "third" of them']

const host = createHost({ environments: [{ ...counter, secrets: () => [...SECRETS] }] })
const server = await serveHttp(host, { limits: { rate: { calls: 1_000_000_000, seconds: 1 } } })
process.on('message', async (capability: string) => process.send?.(await unscan(capability)))
process.on('disconnect', () => process.exit())
process.send?.({ port: server.port, trainerUrl: server.trainerUrl, token: server.controlToken })

async function unscan(capability: string) {
  const { secrets } = await host.resolve(null, { by: 'capability', token: capability })
  Object.assign(secrets ?? {}, { suspects: () => false, assertAbsent: () => {} })
  return { found: secrets !== null }
}
