/** Returns a function that does something, or waits with others until it is done. */
export function oneAtATime<T>(act: () => Promise<T>): () => Promise<T> {
  let acting: Promise<T> | null = null
  return () => {
    acting ??= act().finally(() => {
      acting = null
    })
    return acting
  }
}
