export interface KeyBinding {
  /** As `KeyboardEvent.key`: `j`, `Enter`, `ArrowLeft`, `?`. */
  readonly key: string
  /** What it does, for the list of keys: "next row". */
  readonly label: string
  readonly run: () => void
  /** Whether the key also works while a text is being typed. Default: no. */
  readonly whileTyping?: boolean
}

export interface KeyScope {
  readonly title: string
  readonly bindings: readonly KeyBinding[]
}

export type PressedKey = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'target'>

export function createKeyRegistry() {
  const added: (() => KeyScope)[] = []
  const counting = () => {
    const seen = new Set<string>()
    return added.toReversed().map((scope) => {
      const { title, bindings } = scope()
      const own = bindings.filter(({ key }) => !seen.has(key))
      for (const { key } of own) seen.add(key)
      return { title, bindings: own }
    })
  }
  return {
    /** Adds keys. Of two equal keys the one that was added later counts. Returns a function that removes them. */
    add(scope: () => KeyScope) {
      added.push(scope)
      return () => {
        const at = added.indexOf(scope)
        if (at >= 0) added.splice(at, 1)
      }
    },
    /** All keys that count, by scope, those added last first: what the list of keys shows. */
    scopes: () => counting().filter(({ bindings }) => bindings.length > 0),
    /** Runs what the key of an event does. Returns whether there was something. */
    press({ key, ctrlKey, metaKey, altKey, target }: PressedKey): boolean {
      if (ctrlKey || metaKey || altKey) return false
      const binding = counting()
        .flatMap(({ bindings }) => bindings)
        .find((one) => one.key === key)
      if (!binding || (isTyped(target) && !binding.whileTyping) || isPressed(target, key)) return false
      binding.run()
      return true
    },
  }
}

function isTyped(target: EventTarget | null): boolean {
  const { tagName, type, isContentEditable } = (target ?? {}) as Partial<HTMLInputElement>
  if (tagName === 'TEXTAREA' || tagName === 'SELECT' || isContentEditable) return true
  return tagName === 'INPUT' && !['checkbox', 'radio', 'button'].includes(type ?? '')
}

/** Whether an element that has the focus does something else with the key: a link opens with Enter. */
function isPressed(target: EventTarget | null, key: string): boolean {
  if (key !== 'Enter' && key !== ' ') return false
  return ['A', 'BUTTON', 'SUMMARY', 'INPUT'].includes((target as Partial<Element> | null)?.tagName ?? '')
}
