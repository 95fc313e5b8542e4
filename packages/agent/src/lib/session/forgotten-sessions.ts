/** The open sessions, with their servers. Those still open when the process ends were never closed. */
const open = new Map<object, string>()

/** Notes that a session is open. */
export function noteOpen(session: object, server: string): void {
  // The listener exists only while a session is open.
  if (open.size === 0) globalThis.process?.on('exit', warn)
  open.set(session, server)
}

/** Notes that a session is closed. */
export function noteClosed(session: object): void {
  open.delete(session)
  if (open.size === 0) globalThis.process?.off('exit', warn)
}

/** Warns about sessions that were never closed. They end with the process. */
function warn(): void {
  const servers = [...new Set(open.values())].join(', ')
  const warning = new Error(
    `${open.size} MCP ${open.size === 1 ? 'session was' : 'sessions were'} never closed (${servers}), and ended with the process. Close them, or open them with "await using".`,
  )
  warning.name = 'EpisodicWarning'
  // `process.emitWarning` emits too late: the process has ended by then.
  process.emit('warning', warning)
}
