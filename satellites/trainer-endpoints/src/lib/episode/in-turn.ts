/** Returns a function that runs calls one after another, whatever those before them resolved with. */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(call: () => T | Promise<T>): Promise<T> => {
    const result = last.then(call)
    last = result.catch(() => {})
    return result
  }
}
