/** All rows as long as the heading, and every cell a text. */
export function filled([heading, ...rows]) {
  const long = rows.findIndex((row) => row.length > heading.length)
  if (long >= 0) throw new RangeError(`row ${long + 1} is too long`)
  return [heading, ...rows].map((row) => heading.map((_, column) => String(row[column] ?? '')))
}

/** Whether a column has numbers alone, the heading left out. */
export function isNumeric([, ...rows], column) {
  return rows.length > 0 && rows.every((row) => /^-?\d+(\.\d+)?$/.test(row[column]))
}
