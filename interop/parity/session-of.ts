import type { Script } from './script.ts'
import type { SealedSession } from './seal-session.ts'

/** Returns the one session that played a script. Throws if there is none, and if there are several. */
export function sessionOf(sessions: readonly SealedSession[], { world, task }: Script): SealedSession {
  const found = sessions.filter(({ environment, seed }) => environment.name === world.name && seed === task.seed)
  const [session] = found
  if (session && found.length === 1) return session
  throw new Error(`The server had ${found.length} sessions for the seed ${task.seed} of ${world.name}.`)
}
