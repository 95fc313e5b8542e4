import { type Node, type Program, parse } from 'acorn'
import { DROP } from './start-node.ts'

/** A module of JavaScript, and what its text says that is of interest before it runs. */
export interface ParsedModule {
  readonly isCommonJs: boolean
  /** What it requires by a name that is written out. */
  readonly requires: readonly string[]
  /** The names that it exports as CommonJS, as far as they are written out. */
  readonly exported: readonly string[]
  /** Its text, with other names of modules, and with what notices a rejected promise that a statement drops. */
  rewrite(options: { readonly specifier: (name: string) => string; readonly path: string }): string
}

/** Expressions whose value a statement may drop while it is a promise. */
const DROPPED = new Set([
  'CallExpression',
  'ChainExpression',
  'ConditionalExpression',
  'LogicalExpression',
  'NewExpression',
])

/** Parses a module. Returns `null` for a text that is none: the engine says why. */
export function parseModule(text: string, kind: 'module' | 'commonjs' | 'any'): ParsedModule | null {
  const program = programOf(text)
  if (!program) return null
  const nodes = [...nodesIn(program)]
  const isModule = kind === 'module' || (kind === 'any' && (nodes.some(isOfModule) || hasTopLevelAwait(program)))
  return {
    isCommonJs: !isModule,
    requires: nodes.flatMap(requiredBy),
    exported: [...new Set(nodes.flatMap(exportedBy))],
    rewrite({ specifier, path }) {
      const edits = nodes.flatMap((node) => [...dropEdits(node), ...moduleEdits(node, specifier, path)])
      let rewritten = ''
      let at = 0
      for (const { start, end, by } of edits.sort((a, b) => a.start - b.start || a.end - b.end)) {
        rewritten += text.slice(at, start) + by
        at = end
      }
      return rewritten + text.slice(at)
    },
  }
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly by: string
}

/** A node with the fields that some kinds have. */
type AnyNode = Node & Readonly<Record<string, unknown>>

function programOf(text: string): Program | null {
  const options = { ecmaVersion: 'latest', allowHashBang: true, allowReturnOutsideFunction: true } as const
  try {
    return parse(text, { ...options, sourceType: 'module' })
  } catch {
    return null
  }
}

function* nodesIn(node: Node): Generator<AnyNode> {
  yield node as AnyNode
  for (const child of Object.values(node).flat()) if (isNode(child)) yield* nodesIn(child)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}

function isOfModule({ type }: AnyNode): boolean {
  return /^(Import|Export\w+)Declaration$/.test(type) || type === 'MetaProperty'
}

function hasTopLevelAwait(node: Node): boolean {
  if (node.type === 'AwaitExpression' || (node as AnyNode).await === true) return true
  if (/Function/.test(node.type) || /^(Method|Property)Definition$/.test(node.type)) return false
  return Object.values(node)
    .flat()
    .some((child) => isNode(child) && hasTopLevelAwait(child))
}

function requiredBy({ type, callee, arguments: given }: AnyNode): string[] {
  if (type !== 'CallExpression' || findName(callee) !== 'require') return []
  const [{ value } = {}] = given as readonly { readonly value?: unknown }[]
  return typeof value === 'string' ? [value] : []
}

/** `exports.name = …`, and the keys of `module.exports = { … }`. */
function exportedBy({ type, left, right }: AnyNode): string[] {
  if (type !== 'AssignmentExpression') return []
  const { object, property } = left as AnyNode
  if (findName(object) === 'exports' || isModuleExports(object))
    return [findName(property)].filter((name) => name !== '')
  if (!isModuleExports(left) || (right as AnyNode).type !== 'ObjectExpression') return []
  const { properties } = right as unknown as { readonly properties: readonly AnyNode[] }
  return properties.map(({ key }) => findName(key)).filter((name) => name !== '')
}

function isModuleExports(node: unknown): boolean {
  const { object, property } = (node ?? {}) as Partial<AnyNode>
  return findName(object) === 'module' && findName(property) === 'exports'
}

function findName(node: unknown): string {
  const { type, name } = (node ?? {}) as Partial<AnyNode>
  return type === 'Identifier' ? String(name) : ''
}

function dropEdits({ type, expression }: AnyNode): Edit[] {
  if (type !== 'ExpressionStatement') return []
  const { type: kind, operator, argument } = expression as AnyNode
  const dropped = kind === 'UnaryExpression' && operator === 'void' ? argument : expression
  const { start, end } = dropped as Node
  return DROPPED.has((dropped as Node).type)
    ? [
        { start, end: start, by: `${DROP}(` },
        { start: end, end, by: ')' },
      ]
    : []
}

/** Other names for what a module imports, and texts for what it asks of itself. */
function moduleEdits(node: AnyNode, specifier: (name: string) => string, path: string): Edit[] {
  const { type, source, start, end, object, property } = node
  if (isNode(source)) {
    const { value, start, end } = source as AnyNode
    if (typeof value !== 'string') return []
    const changed = { start, end, by: JSON.stringify(specifier(value)) }
    const attributes = node.attributes as readonly Node[] | undefined
    // The engine knows no `with`: the ending says what a file is.
    return attributes?.length ? [changed, { start: end, end: node.end, by: ';' }] : [changed]
  }
  if (type !== 'MemberExpression' || (object as AnyNode).type !== 'MetaProperty') return []
  const said: Readonly<Record<string, string>> = {
    url: `file://${path}`,
    filename: path,
    dirname: path.slice(0, path.lastIndexOf('/')) || '/',
  }
  const by = said[findName(property)]
  return by === undefined ? [] : [{ start, end, by: JSON.stringify(by) }]
}
