/** Reads a word that this browser keeps; `null` if there is none, or a page may keep nothing, as in a file. */
export function keptWord(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export function keepWord(key: string, word: string): void {
  try {
    localStorage.setItem(key, word)
  } catch {
    // It then lasts until the page is closed.
  }
}
