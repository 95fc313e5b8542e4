const COMPUTE = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / nonZero(right),
  '%': (left, right) => left % nonZero(right),
  '^': (left, right) => left ** right,
}

/** The value of a tree. */
export function evaluate(tree, values) {
  if (tree.number !== undefined) return tree.number
  if (tree.minus !== undefined) return 0 - evaluate(tree.minus, values)
  if (tree.sign !== undefined) return COMPUTE[tree.sign](evaluate(tree.left, values), evaluate(tree.right, values))
  if (values[tree.name] === undefined) throw new ReferenceError(`unknown name: ${tree.name}`)
  return values[tree.name]
}

function nonZero(value) {
  if (value === 0) throw new RangeError('division by zero')
  return value
}
