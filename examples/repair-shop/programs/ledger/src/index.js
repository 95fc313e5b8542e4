import { balanceOf, paidTo } from './balance.js'
import { entryOf } from './entries.js'
import { linesOf } from './statement.js'

export function balance(entries, account) {
  return balanceOf(entries.map(entryOf), account)
}

export function statement(entries, account, from, to) {
  return linesOf(entries.map(entryOf), account, from, to)
}

export function largest(entries, count) {
  const sorted = paidTo(entries.map(entryOf)).sort(([a, x], [b, y]) => y - x || a.localeCompare(b))
  return sorted.slice(0, count)
}
