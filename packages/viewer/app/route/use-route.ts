import { useEffect, useState } from 'preact/hooks'
import { formatRoute, parseRoute, type Route } from './route.ts'

export function useRoute(): Route {
  const [hash, setHash] = useState(() => globalThis.location?.hash ?? '')
  useEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    // The address may have changed between the first drawing and now.
    follow()
    return () => removeEventListener('hashchange', follow)
  }, [])
  return parseRoute(hash)
}

/** With `replace`, the screen before is not in the history: for filters, and for steps of an episode. */
export function openRoute(route: Route, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (!replace) {
    location.hash = formatRoute(route)
    return
  }
  history.replaceState(null, '', formatRoute(route))
  dispatchEvent(new HashChangeEvent('hashchange'))
}
