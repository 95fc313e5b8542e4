import { defineTransform } from './walked-syntax.ts'

type Node = { readonly type: string; readonly [name: string]: unknown }

/**
 * Bounds the integers of `$(( ))` and `(( ))`, which the library counts with numbers of JavaScript: what has more than
 * 52 bits, and an operation on bits of more than 31, fails with a message. What is compared is kept in variables.
 */
export const boundedIntegers = defineTransform('bounded-integers', 'ArithmeticExpression', (node: Node) => {
  // With an operator in a variable, it is read again once that is known.
  if (JSON.stringify(node).includes('"ArithSyntaxError"')) return
  Object.assign(node, { expression: boundedOf(node.expression as Node, 0), originalText: undefined })
})

export const isKept = (name: string) => /^__int\d+$/.test(name)

const group = (expression: Node): Node => ({ type: 'ArithGroup', expression })
const number = (value: number): Node => ({ type: 'ArithNumber', value })
const binary = (left: Node, operator: string, right: Node) => group({ type: 'ArithBinary', operator, left, right })

/** Evaluates to an error that names what is not there. */
const failing = (what: string): Node => ({ type: 'ArithNumberSubscript', number: '', errorToken: `[${what}]` })
/** What the library reads within braces; of the rest it takes a part. */
const READ = /^#?\w+(\[(\w+|[@*])\])?$|^\w+:?[-+=]\w*$/

/** Returns a value of which an operation is made if it has so few bits, without its sign. */
function within(bits: number, value: Node, depth: number, then: (value: Node) => Node): Node {
  const variable = `__int${depth}`
  const kept = group({ type: 'ArithAssignment', operator: '=', variable, value })
  return group({
    type: 'ArithTernary',
    condition: binary(binary(kept, '**', number(2)), '<', binary(number(4), '**', number(bits))),
    consequent: then({ type: 'ArithVariable', name: variable }),
    alternate: failing(`integers of more than ${bits} bits`),
  })
}

const BITWISE = new Set(['&', '|', '^', '>>'])

/** Returns an expression that fails where a value in it would be another one than that of bash. */
function boundedOf(node: Node, depth: number): Node {
  const { type, operator, name } = node
  const of = (child: unknown, further = depth) => boundedOf(child as Node, further)
  const whole = (value: Node) => within(52, value, depth, (kept) => kept)
  if (type === 'ArithCommandSubst' || type === 'ArithArrayElement') return whole(node)
  // What is written as $x is read as x is: the library would cut its digits.
  if (type === 'ArithVariable') return whole({ type, name })
  if (type === 'ArithBracedExpansion')
    return READ.test(`${node.content}`) ? whole(node) : failing('other expansions than ${x}')
  if (type === 'ArithNumber') return Math.abs(node.value as number) < 2 ** 52 ? node : whole(node)
  if (type === 'ArithGroup' || type === 'ArithNested') return { ...node, expression: of(node.expression) }
  if (type === 'ArithTernary') {
    const { condition, consequent, alternate } = node
    return { ...node, condition: of(condition), consequent: of(consequent), alternate: of(alternate) }
  }
  if (type === 'ArithUnary') {
    const { operand, prefix } = node as Node & { readonly operand: Node; readonly prefix: boolean }
    if (operator === '~') return binary(number(-1), '-', of(operand))
    if (operator !== '++' && operator !== '--') return { ...node, operand: of(operand) }
    if (operand.type !== 'ArithVariable') return node
    const sign = (operator as string).charAt(0)
    const next = of({ type: 'ArithAssignment', operator: `${sign}=`, variable: operand.name, value: number(1) })
    return prefix ? group(next) : binary(group(next), sign === '+' ? '-' : '+', number(1))
  }
  if (type === 'ArithAssignment' && node.subscript === undefined && node.stringKey === undefined) {
    const { variable, value } = node
    const own = { type: 'ArithVariable', name: variable }
    const made = operator === '=' ? of(value) : of(binary(own, (operator as string).slice(0, -1), group(value as Node)))
    return { ...node, operator: '=', value: made }
  }
  if (type !== 'ArithBinary') return node
  const [left, right] = [of(node.left), of(node.right, depth + 2)]
  // 1 << 40 has 41 bits.
  if (operator === '<<') return whole(binary(left, '*', binary(number(2), '**', right)))
  if (BITWISE.has(operator as string))
    return within(31, left, depth, (one) =>
      within(31, right, depth + 1, (other) => binary(one, operator as string, other)),
    )
  return ['+', '-', '*', '**'].includes(operator as string)
    ? whole(binary(left, operator as string, right))
    : { ...node, left, right }
}
