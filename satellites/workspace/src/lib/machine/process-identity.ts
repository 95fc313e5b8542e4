import { readFileSync } from 'node:fs'

/** Returns what names a process also when its number is another's later; `null` if it has ended. */
export function processIdentity(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program is in parentheses, and may have any character.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state === 'Z' || state === 'X' ? null : `${pid}-${fields[18]}`
  } catch {
    return null
  }
}
