/** The key of an episode in a run. */
export function episodeKey(task: string, attempt: number): string {
  return `${attempt}/${task}`
}
