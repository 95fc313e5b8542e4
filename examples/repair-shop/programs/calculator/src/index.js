import { tokensOf } from './tokens.js'
import { treeOf } from './tree.js'
import { evaluate } from './value.js'

export function compute(text, values = {}) {
  return evaluate(treeOf(tokensOf(text)), values)
}

export function compare(left, right, values = {}) {
  const difference = compute(left, values) - compute(right, values)
  return Math.sign(Number(difference.toFixed(6)))
}
