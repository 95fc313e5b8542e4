/** The cents of an amount such as 12.50. */
export function centsOf(text) {
  const cents = Math.round(Number(text) * 100)
  if (!(cents > 0)) throw new RangeError(`not an amount: ${text}`)
  return cents
}

/** The entry that a line means. */
export function entryOf(line) {
  const [day, from, to, amount, ...note] = line.split(' ')
  if (amount === undefined || from === to) throw new SyntaxError(`not an entry: ${line}`)
  return { day, from, to, cents: centsOf(amount), note: note.join(' ') }
}
