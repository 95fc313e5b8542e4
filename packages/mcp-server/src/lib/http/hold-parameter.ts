import type { Denial } from './host-origin-check.ts'

/** Seconds for which an answer may be held at most. */
const MOST = 300

/**
 * Returns the seconds for which the answers to calls at a URL are held while other seats move: its parameter `hold`,
 * from 0 to 300; `undefined` if it has none. Returns the denial of a URL with any other value.
 */
export function readHold(url: string | undefined): number | undefined | Denial {
  const query = url?.split('?', 2)[1]
  if (!query?.includes('hold')) return undefined
  const values = new URLSearchParams(query).getAll('hold')
  const [value] = values
  if (value === undefined) return undefined
  if (values.length === 1 && /^\d{1,3}$/.test(value) && Number(value) <= MOST) return Number(value)
  return {
    status: 400,
    message: `The hold of this URL has to be one whole number of seconds from 0 to ${MOST}, as in ?hold=60.`,
  }
}
