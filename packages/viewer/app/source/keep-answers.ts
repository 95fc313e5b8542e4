/** Asks for each key once, until `forget`. A failed answer is asked for again. */
export function keepAnswers<T>(ask: (key: string) => Promise<T>) {
  const kept = new Map<string, Promise<T>>()
  const answerOf = (key: string): Promise<T> => {
    const known = kept.get(key)
    if (known) return known
    const asked = ask(key)
    kept.set(key, asked)
    asked.catch(() => kept.delete(key))
    return asked
  }
  /** Forgets the answer of a key; of all for `null`. */
  const forget = (key: string | null) => (key === null ? kept.clear() : kept.delete(key))
  return Object.assign(answerOf, { forget })
}
