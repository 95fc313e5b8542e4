export function mapValues<From, To>(
  values: { readonly [name: string]: From },
  change: (value: From, name: string) => To,
): { [name: string]: To } {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]))
}
