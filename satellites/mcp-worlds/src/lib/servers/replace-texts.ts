export function replaceTexts<T>(value: T, from: string, to: string): T {
  if (typeof value === 'string') return value.replaceAll(from, () => to) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, from, to)) as T
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceTexts(item, from, to)])) as T
}
