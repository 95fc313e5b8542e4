/** Reads JSON text, or gives `null` when it is none. Boxed, because `null` is JSON too. */
export function parseJson(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}
