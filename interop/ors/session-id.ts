/** Returns the id of the session in an answer to `/create_session`. */
export function idIn(answer: string): string {
  const [, id] = /^data: (\S+)$/m.exec(answer) ?? []
  if (id === undefined) throw new Error(`There is no session id in: ${answer}`)
  return id
}
