/** Returns the path of a URL without its query. Slashes that follow each other, as joined URLs have them, are one. */
export function pathOf(url: string | undefined): string {
  return ((url ?? '').split('?', 1)[0] as string).replace(/\/{2,}/g, '/')
}
