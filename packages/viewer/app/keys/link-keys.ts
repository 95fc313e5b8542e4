import type { RefObject } from 'preact'
import type { KeyBinding } from './key-registry.ts'

/**
 * The keys that move between the links of a screen that a selector finds, and open them.
 *
 * @param what - a link, for the list of keys: "run".
 */
export function linkKeys(screen: RefObject<HTMLElement | null>, selector: string, what: string): KeyBinding[] {
  const move = (by: number) => {
    const all = [...(screen.current?.querySelectorAll<HTMLElement>(selector) ?? [])]
    const at = all.indexOf(document.activeElement as HTMLElement)
    all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]?.focus()
  }
  return [
    { key: 'j', label: `next ${what}`, run: () => move(1) },
    { key: 'k', label: `previous ${what}`, run: () => move(-1) },
    { key: 'Enter', label: `open the ${what}`, run: () => (document.activeElement as HTMLElement | null)?.click() },
  ]
}
