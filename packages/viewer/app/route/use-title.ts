import { useEffect } from 'preact/hooks'

export function useTitle(name: string): void {
  useEffect(() => {
    document.title = `${name} · Episodic`
  }, [name])
}
