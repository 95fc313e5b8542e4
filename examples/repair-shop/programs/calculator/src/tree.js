const RANKS = { '+': 3, '-': 3, '*': 4, '/': 4, '%': 4, '^': 5 }
const LOWEST = RANKS['+']

/** The tree of a list of tokens: { sign, left, right }, { minus }, { number } or { name }. */
export function treeOf(tokens) {
  const rest = [...tokens]
  const tree = readRank(rest, LOWEST)
  if (rest.length > 0) throw new SyntaxError(`unexpected: ${rest[0].value}`)
  return tree
}

function readRank(rest, least) {
  let left = readOperand(rest)
  for (const _ of [...rest]) {
    const rank = RANKS[rest[0]?.value]
    if (rank === undefined || rank < least) break
    const sign = rest.shift().value
    const right = readRank(rest, sign === '^' ? rank : rank + 1)
    left = { sign, left, right }
  }
  return left
}

function readOperand(rest) {
  const token = rest.shift()
  if (token === undefined) throw new SyntaxError('unexpected end')
  if (token.kind === 'number') return { number: token.value }
  if (token.kind === 'name') return { name: token.value }
  if (token.value === '-') return { minus: readOperand(rest) }
  if (token.value !== '(') throw new SyntaxError(`unexpected: ${token.value}`)
  const inner = readRank(rest, LOWEST)
  if (rest.shift()?.value !== ')') throw new SyntaxError('unexpected end')
  return inner
}
