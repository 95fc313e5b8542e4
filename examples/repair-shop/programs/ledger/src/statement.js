import { balanceOf, changeOf } from './balance.js'

/** The lines of an account from a day to a day, both included. */
export function linesOf(entries, account, from, to) {
  const own = entries.filter((entry) => entry.from === account || entry.to === account)
  let after = balanceOf(
    own.filter(({ day }) => day < from),
    account,
  )
  const within = own.filter(({ day }) => day >= from && day <= to)
  return [...within]
    .sort((a, b) => a.day.localeCompare(b.day))
    .map((entry) => {
      const change = changeOf(entry, account)
      after += change
      return { day: entry.day, other: entry.from === account ? entry.to : entry.from, change, after }
    })
}
