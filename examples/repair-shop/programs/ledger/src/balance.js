/** What an entry changes of the balance of an account, in cents. */
export function changeOf({ from, to, cents }, account) {
  if (to === account) return cents
  return from === account ? 0 - cents : 0
}

export function balanceOf(entries, account) {
  let balance = 0
  for (const entry of entries) balance += changeOf(entry, account)
  return balance
}

/** What was paid to each account, as pairs of name and cents. */
export function paidTo(entries) {
  const paid = new Map()
  for (const { to, cents } of entries) paid.set(to, (paid.get(to) ?? 0) + cents)
  return [...paid]
}
