/** What a server says while something changes. */
export type ServerEvent =
  /** A run has changed. */
  | { readonly kind: 'run'; readonly run: string }
  /** The connection was made or lost: anything may have changed. */
  | { readonly kind: 'connection' }

const NAME = 'episodic-events'

/**
 * Listens to the events of the server, with one connection for all tabs of a browser: browsers allow six connections to
 * a host, and a stream of events takes one of them for as long as it is open. The tab that holds a lock has the
 * connection and passes events on; if it is closed, another one takes the lock. Returns a function that ends it.
 */
export function listenToEvents(listener: (event: ServerEvent) => void): () => void {
  const end = new AbortController()
  // Without a secure context there are no locks, and each tab has its own connection.
  if (!('locks' in navigator) || typeof BroadcastChannel === 'undefined') return openEvents(listener)
  const channel = new BroadcastChannel(NAME)
  channel.onmessage = ({ data }) => listener(data)
  const pass = (event: ServerEvent) => {
    listener(event)
    channel.postMessage(event)
  }
  navigator.locks
    .request(NAME, { signal: end.signal }, () => {
      const close = openEvents(pass)
      return new Promise<void>((resolve) => {
        end.signal.addEventListener('abort', () => {
          close()
          resolve()
        })
      })
    })
    .catch((error) => {
      if (!end.signal.aborted) throw error
    })
  return () => {
    end.abort()
    channel.close()
  }
}

function openEvents(listener: (event: ServerEvent) => void): () => void {
  const events = new EventSource('/api/events')
  /** How many episodes each run plays: pages show no more of them. */
  const playing = new Map<string, number>()
  events.addEventListener('run', ({ data }) => listener({ kind: 'run', run: JSON.parse(data).id }))
  events.addEventListener('inFlight', ({ data }) => {
    const { run, inFlight } = JSON.parse(data)
    if (playing.get(run) === inFlight.length) return
    playing.set(run, inFlight.length)
    listener({ kind: 'run', run })
  })
  events.onopen = () => listener({ kind: 'connection' })
  events.onerror = () => listener({ kind: 'connection' })
  return () => events.close()
}
