/** Returns a value as `console.log` of Node prints it. */
export type Inspect = (value: unknown) => string

/**
 * Returns a printer of values in the form of Node's `util.inspect`: up to three levels deep, an object on one line
 * while it fits into 72 characters, and arrays of more than six short entries in columns.
 *
 * It is sent to the JavaScript engine as text, so it uses nothing from outside of itself.
 */
export function createInspect(): Inspect {
  const WIDTH = 80
  const ENTRIES = 100
  const DEPTH = 2
  const LEVELS = 3
  const NAME = /^[A-Za-z_]\w*$/

  function quoted(text: string): string {
    const quote = !text.includes("'") ? "'" : !text.includes('"') ? '"' : text.includes('`') ? "'" : '`'
    const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
    return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote
  }

  function primitive(value: unknown): string | null {
    if (typeof value === 'string') return quoted(value)
    if (typeof value === 'bigint') return `${value}n`
    if (Object.is(value, -0)) return '-0'
    return value === null || (typeof value !== 'object' && typeof value !== 'function') ? String(value) : null
  }

  function nameOf(value: object): string | null {
    const prototype = Object.getPrototypeOf(value)
    if (prototype === null) return null
    return typeof prototype.constructor === 'function' ? prototype.constructor.name : 'Object'
  }

  function functionTag(value: { readonly name: string }): string {
    const text = Function.prototype.toString.call(value)
    if (/^class\b/.test(text)) {
      const parent = Object.getPrototypeOf(value).name
      return `[class ${value.name || '(anonymous)'}${parent ? ` extends ${parent}` : ''}]`
    }
    const kind = /^async\s*(function)?\s*\*/.test(text)
      ? 'AsyncGeneratorFunction'
      : /^async\b/.test(text)
        ? 'AsyncFunction'
        : /^(function)?\s*\*/.test(text)
          ? 'GeneratorFunction'
          : 'Function'
    return value.name ? `[${kind}: ${value.name}]` : `[${kind} (anonymous)]`
  }

  function errorText(value: Error): string {
    const name = value.name === 'AssertionError' ? 'AssertionError [ERR_ASSERTION]' : value.name
    const title = String(value.message ? `${name}: ${value.message.replaceAll("'/file:", "'")}` : name)
    // Without what Node would not show, and with the addresses of modules as there.
    const stack = String(value.stack ?? '')
      .replaceAll(/^(.*\(bootstrap\.js:.*\n)+(.*<anonymous> \(\/file:.*:1:\d+\)\n?)?/gm, '')
      .replaceAll('(/file:', '(file://')
      .replaceAll('(/required:', '(')
      .trimEnd()
    return stack.startsWith(title) ? stack : stack ? `${title}\n${stack}` : `[${title}]`
  }

  function isEmpty(value: object): boolean {
    const { length = 0, size = 0 } = value as { readonly length?: unknown; readonly size?: unknown }
    return length === 0 && size === 0 && Object.keys(value).length === 0
  }

  /** Entries of an array in columns, as Node groups them. */
  function columns(entries: readonly string[], values: readonly unknown[] | null, indent: number): readonly string[] {
    const extra = entries.at(-1)?.startsWith('... ') ? 1 : 0
    const count = entries.length - extra
    const lengths = entries.slice(0, count).map((entry) => entry.length + 2)
    const most = Math.max(...lengths)
    const total = lengths.reduce((sum, length) => sum + length, 0)
    if (most * 3 + indent >= WIDTH || !(total / most > 5 || most <= 8)) return entries
    const biased = Math.max(most - 3 - Math.sqrt(most - total / entries.length), 1)
    const across = Math.min(
      Math.round(Math.sqrt(2.5 * biased * count) / biased),
      Math.floor((WIDTH - indent) / most),
      LEVELS * 4,
      15,
    )
    if (across <= 1) return entries
    const widths = Array.from({ length: across }, (_, column) =>
      Math.max(0, ...lengths.filter((_, i) => i % across === column)),
    )
    const isNumeric = values?.every((value) => typeof value === 'number' || typeof value === 'bigint') ?? false
    const rows: string[] = []
    for (let i = 0; i < count; i += across) {
      const row = entries.slice(i, Math.min(i + across, count))
      const cells = row.map((entry, column) => {
        const isLast = column === row.length - 1
        if (isNumeric) return `${entry}${isLast ? '' : ', '}`.padStart((widths[column] as number) - (isLast ? 2 : 0))
        return isLast ? entry : `${entry}, `.padEnd(widths[column] as number)
      })
      rows.push(cells.join(''))
    }
    return [...rows, ...entries.slice(count)]
  }

  return (outer) => {
    const path: object[] = []
    const circular = new Map<object, number>()
    /** How deep the last object was. */
    let deepest = 0

    function joined(
      entries: readonly string[],
      prefix: string,
      [open, close]: readonly [string, string],
      { depth, indent, values }: { depth: number; indent: number; values?: readonly unknown[] | null },
    ): string {
      const start = prefix ? `${prefix} ${open}` : open
      if (entries.length === 0) return `${start}${close}`
      const grouped = values !== undefined && entries.length > 6 ? columns(entries, values, indent) : entries
      if (deepest - depth < LEVELS && grouped === entries) {
        const length = entries.reduce((sum, entry) => sum + entry.length + 2, start.length + indent + 10)
        if (length <= WIDTH && !entries.some((entry) => entry.includes('\n')))
          return `${start} ${entries.join(', ')} ${close}`
      }
      const line = `\n${' '.repeat(indent)}`
      return `${start}${line}  ${grouped.join(`,${line}  `)}${line}${close}`
    }

    function property(value: object, key: string | symbol, depth: number, indent: number): string {
      const { get, set, value: inner } = Object.getOwnPropertyDescriptor(value, key) as PropertyDescriptor
      const shown = get ? (set ? '[Getter/Setter]' : '[Getter]') : set ? '[Setter]' : show(inner, depth + 1, indent + 2)
      const name = typeof key === 'symbol' ? String(key) : NAME.test(key) ? key : quoted(key)
      return `${name}: ${shown}`
    }

    function properties(value: object, depth: number, indent: number, isList: boolean): string[] {
      return Reflect.ownKeys(value)
        .filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))
        .filter((key) => !(isList && typeof key === 'string' && /^\d+$/.test(key)))
        .map((key) => property(value, key, depth, indent))
    }

    function list(value: ArrayLike<unknown>, depth: number, indent: number): string[] {
      const entries: string[] = []
      for (let i = 0; i < value.length && entries.length < ENTRIES; i++) {
        if (i in value) {
          entries.push(show(value[i], depth + 1, indent + 2))
          continue
        }
        let end = i
        while (end < value.length && !(end in value)) end++
        entries.push(`<${end - i} empty item${end - i > 1 ? 's' : ''}>`)
        i = end - 1
      }
      if (value.length > ENTRIES)
        entries.push(`... ${value.length - ENTRIES} more item${value.length - ENTRIES > 1 ? 's' : ''}`)
      return entries
    }

    function contents(value: object, depth: number, indent: number): string {
      const name = nameOf(value)
      const inside = (isList: boolean) => properties(value, depth, indent, isList)
      const place = { depth, indent }
      if (Array.isArray(value)) {
        const prefix = name === 'Array' ? '' : `${name ?? '[Array: null prototype]'}(${value.length})`
        return joined([...list(value, depth, indent), ...inside(true)], prefix, ['[', ']'], { ...place, values: value })
      }
      if (ArrayBuffer.isView(value) && 'length' in value) {
        const array = value as unknown as ArrayLike<number>
        return joined(list(array, depth, indent), `${name}(${array.length})`, ['[', ']'], {
          ...place,
          values: Array.from(array),
        })
      }
      if (value instanceof Map) {
        const pairs = [...value].map(
          ([key, each]) => `${show(key, depth + 1, indent + 2)} => ${show(each, depth + 1, indent + 2)}`,
        )
        return joined([...pairs, ...inside(false)], `${name}(${value.size})`, ['{', '}'], place)
      }
      if (value instanceof Set) {
        const each = [...value].map((entry) => show(entry, depth + 1, indent + 2))
        return joined([...each, ...inside(false)], `${name}(${value.size})`, ['{', '}'], place)
      }
      const special =
        value instanceof Error
          ? depth > 0 && !value.stack
            ? `[${value}]`
            : errorText(value).replaceAll('\n', `\n${' '.repeat(indent)}`)
          : value instanceof RegExp
            ? String(value)
            : value instanceof Date
              ? Number.isNaN(value.getTime())
                ? 'Invalid Date'
                : value.toISOString()
              : typeof value === 'function'
                ? functionTag(value as { readonly name: string })
                : null
      // The text of an error has its name and message.
      const own =
        value instanceof Error ? inside(false).filter((each) => !/^(name|message|stack):/.test(each)) : inside(false)
      if (special !== null) return own.length === 0 ? special : joined(own, special, ['{', '}'], place)
      if (value instanceof Promise) return joined(own, 'Promise', ['{', '}'], place)
      const boxed = value instanceof String || value instanceof Number || value instanceof Boolean
      if (boxed) return `[${name}: ${primitive(value.valueOf())}]`
      const prefix = name === 'Object' ? '' : (name ?? '[Object: null prototype]')
      return joined(own, prefix, ['{', '}'], place)
    }

    function show(value: unknown, depth: number, indent: number): string {
      const simple = primitive(value)
      if (simple !== null) return simple
      const object = value as object
      if (path.includes(object)) {
        if (!circular.has(object)) circular.set(object, circular.size + 1)
        return `[Circular *${circular.get(object)}]`
      }
      const isFlat = typeof object === 'function' || object instanceof Error || isEmpty(object)
      if (depth > DEPTH && !isFlat) return `[${nameOf(object) ?? 'Object: null prototype'}]`
      path.push(object)
      if (!isFlat) deepest = depth
      const shown = contents(object, depth, indent)
      path.pop()
      const index = circular.get(object)
      return index === undefined ? shown : `<ref *${index}> ${shown}`
    }

    return show(outer, 0, 0)
  }
}
