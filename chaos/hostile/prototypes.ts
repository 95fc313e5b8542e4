/** What every program of this process shares, and a merged `__proto__` would change. */
const SHARED = { Object, Array, String, Number, Boolean, Function, Promise, Map, Set, RegExp, Date, Error }

/** Notes every property of the prototypes that all objects share, and gives a look at what has changed since. */
export function watchPrototypes(): () => string[] {
  const before = properties()
  return () => {
    const after = properties()
    const changed = [...after].filter(([name, value]) => !before.has(name) || before.get(name) !== value)
    const gone = [...before.keys()].filter((name) => !after.has(name))
    return [...changed.map(([name]) => name), ...gone]
  }
}

function properties(): Map<string, unknown> {
  const found = new Map<string, unknown>()
  for (const [name, { prototype }] of Object.entries(SHARED)) {
    found.set(`${name}.prototype's own prototype`, Object.getPrototypeOf(prototype))
    for (const key of Reflect.ownKeys(prototype)) {
      const { value, get } = Object.getOwnPropertyDescriptor(prototype, key) as PropertyDescriptor
      found.set(`${name}.prototype.${String(key)}`, value ?? get)
    }
  }
  return found
}
