/** Sessions that are open, with their servers: those that still are when the process ends were forgotten. */
const open = new Map<object, string>()

/** Notes that a session is open. */
export function noteOpen(session: object, server: string): void {
  // Listened to only while there is a session: nothing is left behind by one that is closed.
  if (open.size === 0) globalThis.process?.on('exit', warn)
  open.set(session, server)
}

/** Notes that a session is closed. */
export function noteClosed(session: object): void {
  open.delete(session)
  if (open.size === 0) globalThis.process?.off('exit', warn)
}

/** Warns about the sessions that nobody closed. They end with the process all the same. */
function warn(): void {
  const servers = [...new Set(open.values())].join(', ')
  const warning = new Error(
    `${open.size} MCP ${open.size === 1 ? 'session was' : 'sessions were'} never closed (${servers}), and ended with the process. Close them, or open them with "await using".`,
  )
  warning.name = 'EpisodicWarning'
  // What is emitted later, as by `process.emitWarning`, nobody hears any more.
  process.emit('warning', warning)
}
