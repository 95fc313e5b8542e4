/** The lines of a text, none wider than `width`. */
export function wrap(text, width) {
  const lines = ['']
  for (const word of text.split(' ').flatMap((word) => cut(word, width))) {
    const last = lines.at(-1)
    if (last === '') lines[lines.length - 1] = word
    else if (last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

function cut(word, width) {
  if (word.length <= width) return [word]
  return [word.slice(0, width), ...cut(word.slice(width), width)]
}
