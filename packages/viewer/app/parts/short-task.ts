/** The id of a task as it is shown in a list: eight digits of a hash, or a name of up to 24 characters. */
export function shortTask(id: string): string {
  if (/^[0-9a-f]{16,}$/i.test(id)) return id.slice(0, 8)
  return id.length <= 24 ? id : `${id.slice(0, 10)}…${id.slice(-13)}`
}
