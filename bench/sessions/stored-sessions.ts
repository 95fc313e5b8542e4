import { createHost, type Host } from '@episodic/mcp-server'
import { type Clock, type SessionStore, systemClock } from '@episodic/state'
import { environment } from '@episodic-world/number-guessing'

export const SESSIONS = 10_000
/** Steps that each session has played: what a removal has to take out of the step log too. */
const STEPS = 5

/** A host of number-guessing on a store, with so many sessions that have been played and left. Gives their handles. */
export async function fill(
  store: SessionStore,
  clock: Clock = systemClock,
  sessions = SESSIONS,
): Promise<{ readonly host: Host; readonly handles: string[] }> {
  const host = createHost({ environments: [environment], store, clock, bounds: { sessions } })
  const handles: string[] = []
  for (let opened = 0; opened < sessions; opened += 100)
    handles.push(
      ...(await Promise.all(
        Array.from({ length: 100 }, async (_, i) => {
          const requestKey = `stored-session-${opened + i}`
          const { session } = await host.open('control', { environment: 'number-guessing', requestKey })
          for (let seq = 0; seq < STEPS; seq++)
            await (await host.resolve('control', { by: 'control', token: session })).step({
              action: { tool: 'guess', arguments: { value: -seq } },
              seq,
            })
          return session
        }),
      )),
    )
  return { host, handles }
}
