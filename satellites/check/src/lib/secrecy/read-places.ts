import type { EnvironmentDefinition, Tool } from '@episodic/mcp-server'
import type { Rng } from '@episodic/protocol'
import { mapValues } from '@episodic/run/base/map-values'
import { unremembered } from '../remembered-preparations.ts'
import { shapeOf } from '../shape-of.ts'

interface ReadPart {
  readonly path: readonly string[]
  /** The keys of values that were read, and that are no objects. */
  readonly leaves: Set<string>
  readonly inner: Map<string, ReadPart>
}

/**
 * The places of a state that rules have read: nothing else of it can have come out. In a large state these are few, or
 * many of one kind where a search went through a table.
 */
export class ReadPlaces {
  readonly #root: ReadPart = { path: [], leaves: new Set(), inner: new Map() }
  readonly #wrappers = new WeakMap<object, object>()
  readonly #wrapped = new WeakMap<object, object>()

  /** Returns an environment of the same rules that notes what they read while they play. */
  watch(environment: EnvironmentDefinition): EnvironmentDefinition {
    const { tools, events, absent, settle } = environment
    // What was prepared for the same context before reads nothing.
    const watchedPreparation = (remembering: NonNullable<Tool['preparation']>): Tool['preparation'] => {
      const preparation = unremembered(remembering)
      return { ...preparation, prepare: (context) => preparation.prepare(this.#watched(context)) }
    }
    const watchedTool = (tool: Tool): Tool => ({
      ...tool,
      play: (context) => tool.play(this.#watched(context)),
      preparation: tool.preparation && watchedPreparation(tool.preparation),
    })
    return {
      ...environment,
      tools: mapValues(tools, watchedTool),
      events: mapValues(events, (event) => ({ ...event, apply: (context) => event.apply(this.#watched(context)) })),
      absent: absent && watchedTool(absent),
      settle: settle && ((context: object) => settle(this.#watched(context))),
    }
  }

  /**
   * Draws some of the places, from each kind of field as many: `private.orders.*.address` is one kind, whichever the
   * order. Of a kind, those come first of whose surroundings most was read, such as the row that a search has found.
   */
  draw({ state }: EnvironmentDefinition, count: number, rng: Rng): readonly (readonly string[])[] {
    const kinds = new Map<string, { readonly path: readonly string[]; readonly weight: number }[]>()
    const visit = (part: ReadPart): void => {
      for (const key of part.leaves) {
        const path = [...part.path, key]
        const kind = shapeOf({ state }, path)
        const known = kinds.get(kind) ?? []
        kinds.set(kind, known)
        known.push({ path, weight: part.leaves.size + part.inner.size + rng.float() })
      }
      for (const inner of part.inner.values()) visit(inner)
    }
    for (const [key, part] of this.#root.inner) if (key !== 'public') visit(part)
    const ranked = [...kinds.values()].map((places) => places.sort((a, b) => b.weight - a.weight))
    const drawn: (readonly string[])[] = []
    for (let rank = 0; drawn.length < count && ranked.some((places) => places.length > rank); rank++)
      for (const places of ranked) {
        const place = places[rank]
        if (place && drawn.length < count) drawn.push(place.path)
      }
    return drawn
  }

  /** The keys by which rules have found objects. */
  get keys(): ReadonlySet<string> {
    const keys = new Set<string>()
    const visit = ({ inner }: ReadPart): void => {
      for (const [key, part] of inner) {
        keys.add(key)
        visit(part)
      }
    }
    visit(this.#root)
    return keys
  }

  /** A proxy: a spread copy would evaluate the getters of the context, which read private fields of it. */
  #watched<Context extends object>(context: Context): Context {
    return new Proxy(context, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key)
        return key === 'state' ? this.#wrap(value as object, this.#root) : value
      },
    })
  }

  #wrap(target: object, part: ReadPart): object {
    const known = this.#wrappers.get(target)
    if (known) return known
    const bare = (value: unknown) => this.#wrapped.get(value as object) ?? value
    // What `prepare` gets is frozen, of which a proxy would have to return the very parts.
    const wrapper = new Proxy<object>(Array.isArray(target) ? [] : {}, {
      get: (_, key) => {
        const isOwn = Object.hasOwn(target, key)
        // A part of a large state writes itself at once, and nobody would see which of its fields are read.
        if (key === 'toJSON' && !isOwn) return undefined
        const value = Reflect.get(target, key)
        if (typeof key !== 'string' || !isOwn) return value
        if (typeof value === 'object' && value !== null) return this.#wrap(value, innerOf(part, key))
        if (key !== 'length' || !Array.isArray(target)) part.leaves.add(key)
        return value
      },
      has: (_, key) => Reflect.has(target, key),
      ownKeys: () => Reflect.ownKeys(target),
      getOwnPropertyDescriptor: (shadow, key) => {
        const found = Reflect.getOwnPropertyDescriptor(target, key)
        return found && { ...found, configurable: !Object.hasOwn(shadow, key) }
      },
      set: (_, key, value) => Reflect.set(target, key, bare(value)),
      deleteProperty: (_, key) => Reflect.deleteProperty(target, key),
      defineProperty: (_, key, property) =>
        Reflect.defineProperty(
          target,
          key,
          'value' in property ? { ...property, value: bare(property.value) } : property,
        ),
    })
    this.#wrappers.set(target, wrapper)
    this.#wrapped.set(wrapper, target)
    return wrapper
  }
}

function innerOf(part: ReadPart, key: string): ReadPart {
  const known = part.inner.get(key)
  if (known) return known
  const inner: ReadPart = { path: [...part.path, key], leaves: new Set(), inner: new Map() }
  part.inner.set(key, inner)
  return inner
}
