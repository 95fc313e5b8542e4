/** Parses JSON. Returns the value in a box, because `null` is JSON too; `null` if the text is not JSON. */
export function parseJson(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}
