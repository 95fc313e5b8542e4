import { useEffect } from 'preact/hooks'

/** Names the screen in the title of the page. */
export function useTitle(name: string): void {
  useEffect(() => {
    document.title = `${name} · Episodic`
  }, [name])
}
