const NAME = 'episodic-events'

/**
 * Listens to the events of the server, with one connection for all tabs of a browser: browsers allow six connections to
 * a host, and a stream of events takes one of them for as long as it is open. The tab that holds a lock has the
 * connection and passes events on; if it is closed, another one takes the lock. Returns a function that ends it.
 *
 * @param listener - called with the run that has changed, `null` if any may have, as the connection was made or lost.
 */
export function listenToEvents(listener: (run: string | null) => void): () => void {
  const end = new AbortController()
  // Without a secure context there are no locks, and each tab has its own connection.
  if (!('locks' in navigator) || typeof BroadcastChannel === 'undefined') return openEvents(listener)
  const channel = new BroadcastChannel(NAME)
  channel.onmessage = ({ data }) => listener(data)
  const pass = (run: string | null) => {
    listener(run)
    channel.postMessage(run)
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

function openEvents(listener: (run: string | null) => void): () => void {
  const events = new EventSource('/api/events')
  events.addEventListener('run', ({ data }) => listener(JSON.parse(data)))
  events.onopen = () => listener(null)
  events.onerror = () => listener(null)
  return () => events.close()
}
